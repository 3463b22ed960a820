! mpi_fortran.F90: three ranks of MPI in Fortran, by the interface that INTERFACE says (1: mpif.h, 2: the module
! mpi, 3: the module mpi_f08). Rank 0 prints how many messages and operations there were, and what it waited in
! late_sender by its own clock, in ns.
#if INTERFACE == 3
#define REQUEST type(MPI_Request)
#define COMMUNICATOR type(MPI_Comm)
#define STATUS type(MPI_Status)
#define STATUSES(count) type(MPI_Status)::statuses(count)
#define SOURCE_OF(status) status%MPI_SOURCE
#else
#define REQUEST integer
#define COMMUNICATOR integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(count) integer :: statuses(MPI_STATUS_SIZE, count)
#define SOURCE_OF(status) status(MPI_SOURCE)
#endif
#if INTERFACE == 1
#define USES
#define INCLUDES include 'mpif.h'
#elif INTERFACE == 2
#define USES use mpi
#define INCLUDES
#else
#define USES use mpi_f08
#define INCLUDES
#endif

program mpi_fortran
  USES
  use iso_c_binding
  implicit none
  INCLUDES
  integer :: own_rank, messages = 0, operations = 0
  COMMUNICATOR :: comm
  integer :: ranks, error, total
  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, own_rank, error)
  if (ranks == 3) then
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    call late_sender()
    call wildcards()
    call nonblocking(comm)
    call collectives(comm)
    call MPI_Comm_free(comm, error)
    call MPI_Reduce(messages, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (own_rank == 0) print '(a, i0)', 'messages=', total
    if (own_rank == 0) print '(a, i0)', 'operations=', 3 * (operations + 1)
  end if
  call MPI_Finalize(error)

contains

subroutine be_late(rank)
  interface
    integer(c_int) function usleep(us) bind(c)
      import
      integer(c_int), value :: us
    end function
  end interface
  integer :: rank, ignored
  if (own_rank == rank) ignored = usleep(10000)
end subroutine

subroutine late_sender()
  integer :: i, error, values(4) = 0
  double precision :: enter, waited = 0
  do i = 1, 10
    call be_late(1)
    if (own_rank == 1) then
      call MPI_Send(values, 4, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, error)
      messages = messages + 1
    else if (own_rank == 0) then
      enter = MPI_Wtime()
      call MPI_Recv(values, 4, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      waited = waited + MPI_Wtime() - enter
    end if
  end do
  if (own_rank == 0) print '(a, i0)', 'late_sender=', int(waited * 1d9, 8)
end subroutine

subroutine wildcards()
  STATUS :: status
  integer :: i, error, value
  if (own_rank == 0) then
    do i = 1, 40
      call MPI_Recv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
      if (SOURCE_OF(status) /= value) print '(a)', 'wrong=1'
    end do
  else
    do i = 1, 20
      call MPI_Ssend(own_rank, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, error)
      messages = messages + 1
    end do
  end if
end subroutine

subroutine nonblocking(comm)
  COMMUNICATOR :: comm
  REQUEST :: requests(2)
  STATUSES(2)
  integer :: i, error, sent, got, next, before
  next = mod(own_rank + 1, 3)
  before = mod(own_rank + 2, 3)
  do i = 1, 10
    sent = i
    call MPI_Irecv(got, 1, MPI_INTEGER, before, 3, comm, requests(1), error)
    call MPI_Isend(sent, 1, MPI_INTEGER, next, 3, comm, requests(2), error)
    if (mod(i, 2) == 0) then
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    else
      call MPI_Waitall(2, requests, statuses, error)
    end if
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, next, 4, got, 1, MPI_INTEGER, before, 4, comm, MPI_STATUS_IGNORE, error)
    messages = messages + 2
    if (got /= i) print '(a)', 'wrong=1'
  end do
  call MPI_Send_init(sent, 1, MPI_INTEGER, next, 5, comm, requests(1), error)
  call MPI_Recv_init(got, 1, MPI_INTEGER, before, 5, comm, requests(2), error)
  do i = 1, 5
    call MPI_Startall(2, requests, error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
    messages = messages + 1
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
end subroutine

subroutine collectives(comm)
  COMMUNICATOR :: comm
  REQUEST :: request
  integer :: i, error, sum, all(3)
  do i = 1, 4
    sum = 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, comm, error)
    if (sum /= 3) print '(a)', 'wrong=1'
    call MPI_Bcast(sum, 1, MPI_INTEGER, 2, comm, error)
    call MPI_Allgather(own_rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, error)
    if (all(2) /= 1) print '(a)', 'wrong=1'
    call MPI_Ibarrier(comm, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Barrier(comm, error)
    operations = operations + 5
  end do
end subroutine

end program
