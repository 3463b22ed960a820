/* The names by which LLVM's libunwind is known; for tests/unit/test_plan.c, which only reads them.
 */
void _Unwind_RaiseException(void);
void unw_init_local(void);

void _Unwind_RaiseException(void)
{
}

void unw_init_local(void)
{
}
