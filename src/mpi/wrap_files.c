/* wrap_files.c: the wrappers of MPI's files, with counts that are small or, compiled once more,
 * large. A call tells the file by its number, and how much it reads or writes; what MPI itself does
 * for it is in the call. */
#include "mpi/wrap.h"

#define LIST(...) __VA_ARGS__

static uint64_t enter(uint64_t site, MPI_File file, uint64_t bytes)
{
    return heurt_message_enter(site, request__number(request__key_of_file(file)), bytes);
}

#ifndef HEURT_MPI_LARGE
static void tell_file(MPI_File file, const char *name)
{
    struct mpi_request opened = {
        .key = request__key_of_file(file), .number = request__next_number(), .kind = REQUEST_FILE};
    request__put(opened);
    heurt_message_file(opened.number, name);
}

EXPORT int heurt_MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info,
                               MPI_File *file)
{
    uint64_t since = ENTER(FILE_OPEN, NULL, 0);
    int result = NEXT(File_open)(comm, name, mode, info, file);
    if (IS_DONE)
        tell_file(*file, name);
    LEAVE();
}

EXPORT int heurt_MPI_File_close(MPI_File *file)
{
    uint64_t key = request__key_of_file(*file), since = enter(SITE_OF(FILE_CLOSE), *file, 0);
    int result = NEXT(File_close)(file);
    request__forget(key);
    LEAVE();
}

#define FILE_CALL(name, call, parameters, arguments)    \
    EXPORT int heurt_MPI_##name(parameters)             \
    {                                                   \
        uint64_t since = enter(SITE_OF(call), file, 0); \
        int result = NEXT(name)(arguments);             \
        LEAVE();                                        \
    }
/* clang-format off */
FILE_CALL(File_sync, FILE_SYNC, MPI_File file, file)
FILE_CALL(File_set_size, FILE_SET_SIZE, LIST(MPI_File file, MPI_Offset size), LIST(file, size))
FILE_CALL(File_preallocate, FILE_PREALLOCATE, LIST(MPI_File file, MPI_Offset size), LIST(file, size))
FILE_CALL(File_set_view, FILE_SET_VIEW,
          LIST(MPI_File file, MPI_Offset at, MPI_Datatype type, MPI_Datatype view, const char *form, MPI_Info info),
          LIST(file, at, type, view, form, info))
/* clang-format on */

/* What began: its bytes were told then. */
#define ENDS(name, call, constness)                                                        \
    EXPORT int heurt_MPI_##name(MPI_File file, constness void *buffer, MPI_Status *status) \
    {                                                                                      \
        uint64_t since = enter(SITE_OF(call), file, 0);                                    \
        int result = NEXT(name)(file, buffer, status);                                     \
        LEAVE();                                                                           \
    }
/* clang-format off */
ENDS(File_read_all_end, FILE_READ_ALL_END, )
ENDS(File_write_all_end, FILE_WRITE_ALL_END, const)
ENDS(File_read_at_all_end, FILE_READ_AT_ALL_END, )
ENDS(File_write_at_all_end, FILE_WRITE_AT_ALL_END, const)
ENDS(File_read_ordered_end, FILE_READ_ORDERED_END, )
ENDS(File_write_ordered_end, FILE_WRITE_ORDERED_END, const)
/* clang-format on */
#endif

#define TRANSFERS(name, call, parameters, arguments)                        \
    EXPORT int SIZED_WRAPPER(name)(parameters)                              \
    {                                                                       \
        uint64_t since = enter(SITE_OF(call), file, bytes_of(count, type)); \
        int result = SIZED_NEXT(name)(arguments);                           \
        LEAVE();                                                            \
    }
#define WHAT(constness) constness void *buffer, mpi_count count, MPI_Datatype type
#define HERE(name, call, constness, last, last_name)                             \
    TRANSFERS(name, call, LIST(MPI_File file, WHAT(constness), last *last_name), \
              LIST(file, buffer, count, type, last_name))
#define AT(name, call, constness, last, last_name)                                              \
    TRANSFERS(name, call, LIST(MPI_File file, MPI_Offset at, WHAT(constness), last *last_name), \
              LIST(file, at, buffer, count, type, last_name))
#define BEGINS(name, call, constness) \
    TRANSFERS(name, call, LIST(MPI_File file, WHAT(constness)), LIST(file, buffer, count, type))
#define BEGINS_AT(name, call, constness)                                       \
    TRANSFERS(name, call, LIST(MPI_File file, MPI_Offset at, WHAT(constness)), \
              LIST(file, at, buffer, count, type))

/* clang-format off */
HERE(File_read, FILE_READ, , MPI_Status, status)
HERE(File_read_all, FILE_READ_ALL, , MPI_Status, status)
HERE(File_read_shared, FILE_READ_SHARED, , MPI_Status, status)
HERE(File_read_ordered, FILE_READ_ORDERED, , MPI_Status, status)
AT(File_read_at, FILE_READ_AT, , MPI_Status, status)
AT(File_read_at_all, FILE_READ_AT_ALL, , MPI_Status, status)
HERE(File_iread, FILE_IREAD, , MPI_Request, request)
HERE(File_iread_all, FILE_IREAD_ALL, , MPI_Request, request)
HERE(File_iread_shared, FILE_IREAD_SHARED, , MPI_Request, request)
AT(File_iread_at, FILE_IREAD_AT, , MPI_Request, request)
AT(File_iread_at_all, FILE_IREAD_AT_ALL, , MPI_Request, request)
BEGINS(File_read_all_begin, FILE_READ_ALL_BEGIN, )
BEGINS(File_read_ordered_begin, FILE_READ_ORDERED_BEGIN, )
BEGINS_AT(File_read_at_all_begin, FILE_READ_AT_ALL_BEGIN, )
HERE(File_write, FILE_WRITE, const, MPI_Status, status)
HERE(File_write_all, FILE_WRITE_ALL, const, MPI_Status, status)
HERE(File_write_shared, FILE_WRITE_SHARED, const, MPI_Status, status)
HERE(File_write_ordered, FILE_WRITE_ORDERED, const, MPI_Status, status)
AT(File_write_at, FILE_WRITE_AT, const, MPI_Status, status)
AT(File_write_at_all, FILE_WRITE_AT_ALL, const, MPI_Status, status)
HERE(File_iwrite, FILE_IWRITE, const, MPI_Request, request)
HERE(File_iwrite_all, FILE_IWRITE_ALL, const, MPI_Request, request)
HERE(File_iwrite_shared, FILE_IWRITE_SHARED, const, MPI_Request, request)
AT(File_iwrite_at, FILE_IWRITE_AT, const, MPI_Request, request)
AT(File_iwrite_at_all, FILE_IWRITE_AT_ALL, const, MPI_Request, request)
BEGINS(File_write_all_begin, FILE_WRITE_ALL_BEGIN, const)
BEGINS(File_write_ordered_begin, FILE_WRITE_ORDERED_BEGIN, const)
BEGINS_AT(File_write_at_all_begin, FILE_WRITE_AT_ALL_BEGIN, const)
/* clang-format on */
