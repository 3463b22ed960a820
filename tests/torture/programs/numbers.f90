! numbers.f90: functions as Fortran has them: arguments by reference, hidden lengths of texts, arrays
! of any shape, results that are texts, arrays or complex, recursion, functions within functions that
! are given to others.
module torture
  implicit none
  integer, parameter :: calls = 300
contains
  pure integer function f_square(n)
    integer, intent(in) :: n
    f_square = n * n
  end function

  complex(kind=8) function f_complex(x)
    real(kind=8), intent(in) :: x
    f_complex = cmplx(x, 2 * x, kind=8)
  end function

  function f_text(n, prefix) result(text)
    integer, intent(in) :: n
    character(len=*), intent(in) :: prefix
    character(len=20) :: text
    write(text, '(a,i0)') prefix, n
  end function

  function f_array(n) result(values)
    integer, intent(in) :: n
    real(kind=8) :: values(5)
    integer :: i
    values = [(n * i * 0.5d0, i = 1, 5)]
  end function

  real(kind=8) function f_sum(values)
    real(kind=8), intent(in) :: values(:, :)
    f_sum = sum(values)
  end function

  real(kind=8) function f_many(a, b, c, d, e, f, g, text, h)
    real(kind=8), intent(in) :: a, b, c, d, e, f, g, h
    character(len=*), intent(in) :: text
    f_many = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + len(text)
  end function

  recursive integer function f_deep(n) result(depth)
    integer, intent(in) :: n
    if (n == 0) then
      depth = 0
    else
      depth = f_deep(n - 1) + 1
    end if
  end function

  real(kind=8) function f_optional(x, y)
    real(kind=8), intent(in) :: x
    real(kind=8), intent(in), optional :: y
    f_optional = x
    if (present(y)) f_optional = f_optional + y
  end function

  integer function f_applies(function, n)
    interface
      integer function function(i)
        integer, intent(in) :: i
      end function
    end interface
    integer, intent(in) :: n
    integer :: i
    f_applies = 0
    do i = 1, n
      f_applies = f_applies + function(i)
    end do
  end function

  integer function f_outer(n)
    integer, intent(in) :: n
    f_outer = f_applies(f_inner, 10)
  contains
    integer function f_inner(i)
      integer, intent(in) :: i
      f_inner = i * n
    end function
  end function
end module

program numbers
  use torture
  implicit none
  integer :: i, total
  real(kind=8) :: sum_of_all, grid(4, 6)
  complex(kind=8) :: complex_sum
  total = 0
  sum_of_all = 0
  complex_sum = 0
  do i = 1, calls
    grid = i * 0.25d0
    total = modulo(total * 3 + f_square(i) + len_trim(f_text(i, 'number ')) + f_outer(i), 1000003)
    complex_sum = complex_sum + f_complex(i * 1.5d0)
    sum_of_all = sum_of_all + sum(f_array(i)) + f_sum(grid(1:4:2, 2:6:2)) + f_sum(grid)
    sum_of_all = sum_of_all + f_many(1d0, 2d0, 3d0, 4d0, 5d0, 6d0, 7d0, 'some text', 1d0 * i)
    sum_of_all = sum_of_all + f_optional(1d0) + f_optional(1d0, 2d0)
  end do
  total = total + f_deep(10000)
  print '(a,i0,1x,f20.6,1x,2f20.6)', 'numbers ', total, sum_of_all, complex_sum
  call tell('f_square', calls)
  call tell('f_complex', calls)
  call tell('f_text', calls)
  call tell('f_array', calls)
  call tell('f_sum', 2 * calls)
  call tell('f_many', calls)
  call tell('f_optional', 2 * calls)
  call tell('f_deep', 10001)
  call tell('f_applies', calls)
  call tell('f_outer', calls)
  print '(a,i0)', 'count f_inner.0 ', 10 * calls
contains
  subroutine tell(name, entered)
    character(len=*), intent(in) :: name
    integer, intent(in) :: entered
    print '(a,a,1x,i0)', 'count __torture_MOD_', name, entered
  end subroutine
end program
