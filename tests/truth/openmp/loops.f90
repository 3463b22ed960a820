! An uneven loop of Fortran: a quarter of the items costs nine times as much.
program loops
  use omp_lib
  implicit none
  integer :: i, call, threads, status
  character(len=16) :: text
  real(8), allocatable :: cost(:)
  integer, parameter :: items = 256, calls = 6
  call get_command_argument(3, text, status=status)
  threads = 2
  if (status == 0) read (text, *) threads
  call omp_set_num_threads(threads)
  allocate (cost(0:15), source=0d0)
  do call = 1, calls
     !$omp parallel
     cost(omp_get_thread_num()) = cost(omp_get_thread_num()) - cpu()
     !$omp do schedule(static)
     do i = 1, items
        call work(merge(900d0, 100d0, i > items * 3 / 4))
     end do
     !$omp end do nowait
     cost(omp_get_thread_num()) = cost(omp_get_thread_num()) + cpu()
     !$omp end parallel
  end do
  print '(a,i0)', 'regions=', calls
  print '(a,i0)', 'most_share=', nint(1000 * maxval(cost) / sum(cost))
contains
  ! Of this thread's CPU time, microseconds.
  real(8) function cpu()
    use iso_c_binding
    interface
       integer(c_int) function clock_gettime(clock, now) bind(c)
         import
         integer(c_int), value :: clock
         integer(c_int64_t) :: now(2)
       end function
    end interface
    integer(c_int64_t) :: now(2)
    integer(c_int) :: failed
    failed = clock_gettime(3, now)
    cpu = now(1) * 1d6 + now(2) / 1d3
  end function
  subroutine work(us)
    real(8), intent(in) :: us
    real(8) :: until
    until = cpu() + us
    do while (cpu() < until)
    end do
  end subroutine
end program
