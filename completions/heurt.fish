# fish completion for heurt(1)

set -l verbs record report view locks memory openmp mpi analyse merge place structure whatif tables compare gate scale induce stat hot dump export import check explain help

# The words after heurt, its command and its options: the program and its arguments.
function __heurt_program_words
    set -l words (commandline -opc)
    set -e words[1]
    if contains -- "$words[1]" record hot check scale stat
        set -e words[1]
    else if contains -- "$words[1]" report view locks memory openmp mpi analyse merge place structure whatif tables compare gate induce dump export import explain help
        return
    end
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                break
            case -o -f -F -M -A --function --functions-from --module --arguments --machine --stack-every --stack-bytes --max-size --overhead --locks --choose-after --patience --local --clock-offset-test --report --repeat --frequency --min --output --threads --cores --table --width -p --pid --duration --interval
                set -e words[1]
                set -e words[1]
            case '-*'
                set -e words[1]
            case '*'
                break
        end
    end
    if set -q words[1]
        printf '%s\n' $words
    end
end

function __heurt_in_options
    test (count (__heurt_program_words)) -eq 0
end

function __heurt_records
    __heurt_in_options
    and not __fish_seen_subcommand_from report view locks memory openmp mpi analyse merge place structure whatif tables compare gate scale induce stat hot dump export import check explain help
end

function __heurt_complete_program
    set -l words (__heurt_program_words) (commandline -ct)
    if test (count $words) -eq 1; and string match -q -- '-*' $words[1]
        return # an option of heurt's own
    end
    set -l line (string escape -- $words | string join ' ')
    complete -C"$line"
end

complete -c heurt -f
complete -c heurt -n __fish_is_first_arg -a record -d 'Run a program and write down what its threads do'
complete -c heurt -n __fish_is_first_arg -a report -d 'Show where time is lost, how much and why'
complete -c heurt -n __fish_is_first_arg -a view -d 'Browse what was found on the terminal'
complete -c heurt -n __fish_is_first_arg -a locks -d 'Say what threads did with each lock'
complete -c heurt -n __fish_is_first_arg -a memory -d 'Show which memory threads use'
complete -c heurt -n __fish_is_first_arg -a place -d 'Show on which NUMA nodes memory is'
complete -c heurt -n __fish_is_first_arg -a openmp -d 'Show parallel regions of OpenMP'
complete -c heurt -n __fish_is_first_arg -a mpi -d 'Show ranks of MPI and whom they wait for'
complete -c heurt -n __fish_is_first_arg -a analyse -d 'Analyse many ranks of MPI once, under mpirun'
complete -c heurt -n __fish_is_first_arg -a merge -d 'Make one trace of what ranks of MPI recorded'
complete -c heurt -n __fish_is_first_arg -a structure -d 'Show the shape of the program: its loops and their times'
complete -c heurt -n __fish_is_first_arg -a whatif -d 'Predict the wall time with something changed'
complete -c heurt -n __fish_is_first_arg -a tables -d 'List and print the tables of all analyses'
complete -c heurt -n __fish_is_first_arg -a compare -d 'Compare runs with runs'
complete -c heurt -n __fish_is_first_arg -a gate -d 'Run a program until it is sure whether it is slower'
complete -c heurt -n __fish_is_first_arg -a scale -d 'Run a program with more and more threads'
complete -c heurt -n __fish_is_first_arg -a induce -d 'Run a program while a resource is taken from it'
complete -c heurt -n __fish_is_first_arg -a stat -d 'What threads do with the CPUs, without recording'
complete -c heurt -n __fish_is_first_arg -a hot -d 'Name the functions that a program spends its time in'
complete -c heurt -n __fish_is_first_arg -a dump -d 'Print the recorded events'
complete -c heurt -n __fish_is_first_arg -a export -d 'Write the recorded events for other tools'
complete -c heurt -n __fish_is_first_arg -a import -d 'Make a trace of what another tool recorded'
complete -c heurt -n __fish_is_first_arg -a check -d 'Tell what this machine and a program allow'
complete -c heurt -n __fish_is_first_arg -a explain -d 'Explain a word of the screens'
complete -c heurt -n __fish_is_first_arg -l version -d 'Show the version'
complete -c heurt -n __heurt_in_options -l help -d 'Show a short description'
complete -c heurt -n 'not __fish_seen_subcommand_from report view locks memory openmp mpi analyse merge place structure whatif tables compare dump export import explain help' -a '(__heurt_complete_program)'

complete -c heurt -n __heurt_records -s o -l output -r -a '(__fish_complete_directories)' -d 'Trace to write'
complete -c heurt -n __heurt_records -s f -l function -x -d 'Record the functions that match'
complete -c heurt -n __heurt_records -s F -l functions-from -r -F -d 'Read such patterns from a file'
complete -c heurt -n __heurt_records -s M -l module -r -F -d 'Record every function of these modules'
complete -c heurt -n __heurt_records -s A -l arguments -x -d 'Record arguments of a function'
complete -c heurt -n __heurt_records -l stack-every -x -d 'Take a call stack every N-th time'
complete -c heurt -n __heurt_records -l stack-bytes -x -d 'Bytes of the stack to keep'
complete -c heurt -n __heurt_records -l max-size -x -a '256M 1G 4G 16G' -d 'Bound of the trace'
complete -c heurt -n __heurt_records -l aggregate -d 'Keep no trace: counts, sums and histograms'
complete -c heurt -n __heurt_records -l no-pack -d 'Leave the trace as long as it was written'
complete -c heurt -n __heurt_records -l locks -x -a 'drawn all' -d 'Locks that nobody waits for'
complete -c heurt -n __heurt_records -l choose-after -x -d 'CPU time before functions are chosen'
complete -c heurt -n __heurt_records -l local -x -a '(__fish_complete_directories)' -d 'Parts of MPI ranks stay here, on each host'
complete -c heurt -n __heurt_records -l clock-offset-test -x -d 'For tests: ranks of MPI as if on hosts of other clocks'
complete -c heurt -n __heurt_records -l raw-stacks -d 'Keep all of stacks, not addresses alone'
complete -c heurt -n __heurt_records -l redact-arguments -d 'Keep no arguments, only which are the same'
complete -c heurt -n __heurt_records -l patience -x -d 'How long the program waits for heurt'
complete -c heurt -n __heurt_records -l no-choice -d 'Record known calls only'
complete -c heurt -n __heurt_records -l no-loops -d 'Do not mark loops'
complete -c heurt -n __heurt_records -l no-memory -d 'Do not tell what memory is allocated and freed'
complete -c heurt -n __heurt_records -l no-kernel -d 'No switches and page faults from the kernel'
complete -c heurt -n __heurt_records -l instructions -d 'Count the instructions of each call'
complete -c heurt -n __heurt_records -l overhead -x -a '1% 5% 10% none' -d 'What recording may cost each thread'
complete -c heurt -n __heurt_records -l repeat -x -a '5 10' -d 'Record so many runs, for heurt compare'
complete -c heurt -n __heurt_records -l hot -d 'Run it twice: find the functions first'
complete -c heurt -n __heurt_records -l report -r -F -d 'Then report, into this file'
complete -c heurt -n __heurt_records -s q -l quiet -d 'Say only what went wrong'

set -l in_locks '__fish_seen_subcommand_from locks'
complete -c heurt -n "$in_locks" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_locks" -l lock -x -d 'Only this lock'
complete -c heurt -n "$in_locks" -l site -x -d 'Only what these functions do'
complete -c heurt -n "$in_locks" -l min-wait -x -a '20us 1ms 10ms' -d 'Only what waited so long'
complete -c heurt -n "$in_locks" -l thread -x -d 'Only what this thread did'
complete -c heurt -n "$in_locks" -l from -x -d 'Only from this time on'
complete -c heurt -n "$in_locks" -l to -x -d 'Only up to this time'
complete -c heurt -n "$in_locks" -l path -d 'The critical path, piece by piece'
complete -c heurt -n "$in_locks" -l dot -d 'Who waited for whom, for Graphviz'
complete -c heurt -n "$in_locks" -l audit -d 'Check that the parts add up'
complete -c heurt -n "$in_locks" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_locks" -l json -d 'As JSON'
complete -c heurt -n "$in_locks" -l csv -d 'As comma-separated values'

set -l in_report '__fish_seen_subcommand_from report'
complete -c heurt -n "$in_report" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_report" -l threshold -x -a '0.1 0.2 0.3' -d 'Score from which a class is shown first'
complete -c heurt -n "$in_report" -l key -x -d 'Tell calls apart by arguments'
complete -c heurt -n "$in_report" -l ignore -x -d 'Put a function aside'
complete -c heurt -n "$in_report" -l forget -x -d 'Forget what was said about a function'
complete -c heurt -n "$in_report" -l no-rules -d 'As if nothing had been said'
complete -c heurt -n "$in_report" -l class -x -a 'site structure' -d 'What makes a class'
complete -c heurt -n "$in_report" -l classes -d 'The table of classes'
complete -c heurt -n "$in_report" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_report" -l slowest -d 'The slowest requests of a server'
complete -c heurt -n "$in_report" -l coverage -d 'List what was not instrumented'
complete -c heurt -n "$in_report" -l audit -d 'Check that the parts add up'
complete -c heurt -n "$in_report" -l compare -d 'A slow occurrence against a fast one'
complete -c heurt -n "$in_report" -l slow -x -d 'The N-th slowest'
complete -c heurt -n "$in_report" -l at -x -d 'The one at that time'
complete -c heurt -n "$in_report" -l fast -x -d 'The N-th fastest to compare with'
complete -c heurt -n "$in_report" -l median -d 'One like the median to compare with'
complete -c heurt -n "$in_report" -a iteration -d 'The iterations of the program (with --compare)'
complete -c heurt -n "$in_report" -l from -x -d 'From this time on'
complete -c heurt -n "$in_report" -l last -x -d 'So long before the end'
complete -c heurt -n "$in_report" -l to -x -d 'Up to this time'
complete -c heurt -n "$in_report" -l thread -x -d 'Only what these threads lost'
complete -c heurt -n "$in_report" -l json -d 'As JSON'
complete -c heurt -n "$in_report" -l csv -d 'As comma-separated values'
complete -c heurt -n "$in_report" -l markdown -d 'For a pull request'
complete -c heurt -n "$in_report" -l html -r -d 'As a page for a browser'
complete -c heurt -n "$in_report" -l fail-if -x -d 'End with 3 if it is so'
complete -c heurt -n "$in_report" -l junit -r -d 'The conditions as JUnit XML'

set -l in_view '__fish_seen_subcommand_from view'
complete -c heurt -n "$in_view" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'

set -l in_analyse '__fish_seen_subcommand_from analyse'
complete -c heurt -n "$in_analyse" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
set -l in_merge '__fish_seen_subcommand_from merge'
complete -c heurt -n "$in_merge" -s o -l output -x -a '(__fish_complete_directories)' -d 'The trace'
complete -c heurt -n "$in_merge" -l no-pack -d 'Leave the trace as long as it was written'
complete -c heurt -n "$in_merge" -s q -l quiet -d 'Say nothing when all went well'
complete -c heurt -n "$in_merge" -x -a '(__fish_complete_directories)'
set -l in_mpi '__fish_seen_subcommand_from mpi'
complete -c heurt -n "$in_mpi" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_mpi" -l matrix -x -a 'bytes messages waited' -d 'Who sent whom'
complete -c heurt -n "$in_mpi" -l late-message -x -d 'Shorter waits for messages are none'
complete -c heurt -n "$in_mpi" -l late-collective -x -d 'Shorter waits in collective operations are none'
complete -c heurt -n "$in_mpi" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_mpi" -l json -d 'As JSON'
complete -c heurt -n "$in_mpi" -l csv -d 'As comma-separated values'

set -l in_openmp '__fish_seen_subcommand_from openmp'
complete -c heurt -n "$in_openmp" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_openmp" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_openmp" -l json -d 'As JSON'
complete -c heurt -n "$in_openmp" -l csv -d 'As comma-separated values'

set -l in_memory '__fish_seen_subcommand_from memory'
complete -c heurt -n "$in_memory" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_memory" -l lines -d 'Cache lines, byte by byte'
complete -c heurt -n "$in_memory" -l pages -d 'Threads by pages'
complete -c heurt -n "$in_memory" -l flow -x -a 'thread= object=' -d 'In time'
complete -c heurt -n "$in_memory" -l picture -r -d 'As a picture (SVG)'
complete -c heurt -n "$in_memory" -l all -d 'Also what takes little time'
complete -c heurt -n "$in_memory" -l counted -x -a '(__fish_complete_directories)' -d 'Hold the samples against what that run counted'
complete -c heurt -n "$in_memory" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_memory" -l json -d 'As JSON'
complete -c heurt -n "$in_memory" -l csv -d 'As comma-separated values'

set -l in_place '__fish_seen_subcommand_from place'
complete -c heurt -n "$in_place" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_place" -l script -d 'A script that places the memory of a program'
complete -c heurt -n "$in_place" -s o -l output -r -F -d 'Where the script goes'
complete -c heurt -n "$in_place" -l all -d 'Also what takes little time'
complete -c heurt -n "$in_place" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_place" -l json -d 'As JSON'
complete -c heurt -n "$in_place" -l csv -d 'As comma-separated values'

set -l in_structure '__fish_seen_subcommand_from structure'
complete -c heurt -n "$in_structure" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_structure" -l thread -x -d 'Only what these threads do'
complete -c heurt -n "$in_structure" -l depth -x -a '1 2 3 4' -d 'Only so many levels'
complete -c heurt -n "$in_structure" -l all -d 'Also what takes little time'
complete -c heurt -n "$in_structure" -l grammar -d 'Every call of one thread, as rules'
complete -c heurt -n "$in_structure" -l interesting -d 'What stands out of its like'
complete -c heurt -n "$in_structure" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_structure" -l json -d 'As JSON'
complete -c heurt -n "$in_structure" -l csv -d 'As comma-separated values'

set -l in_whatif '__fish_seen_subcommand_from whatif'
complete -c heurt -n "$in_whatif" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_whatif" -l remove -x -d 'Without what a class or a lock loses'
complete -c heurt -n "$in_whatif" -l speed -x -d 'With a faster function (FUNC=2x)'
complete -c heurt -n "$in_whatif" -l shrink -x -d 'With shorter sections of a lock'
complete -c heurt -n "$in_whatif" -l split -x -d 'With several locks in place of one'
complete -c heurt -n "$in_whatif" -l schedule -x -d 'With loops of a parallel region shared so'
complete -c heurt -n "$in_whatif" -l balance -x -d 'With the work of a parallel region evenly divided'
complete -c heurt -n "$in_whatif" -l threads -x -d 'With so many threads'
complete -c heurt -n "$in_whatif" -l all -d 'A row for every class'
complete -c heurt -n "$in_whatif" -l class -x -a 'site structure' -d 'What makes a class'
complete -c heurt -n "$in_whatif" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_whatif" -l json -d 'As JSON'
complete -c heurt -n "$in_whatif" -l csv -d 'As comma-separated values'

set -l in_tables '__fish_seen_subcommand_from tables'
complete -c heurt -n "$in_tables" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_tables" -l format -x -a 'text csv json latex markdown' -d 'How to write them'
complete -c heurt -n "$in_tables" -l where -x -d 'Only such rows (score>0.1)'
complete -c heurt -n "$in_tables" -l sort -x -d 'In the order of this column'
complete -c heurt -n "$in_tables" -l class -x -a 'site structure' -d 'What makes a class'
complete -c heurt -n "$in_tables" -a '(heurt tables --format csv 2>/dev/null | tail -n +2 | cut -d, -f1 | uniq)'

set -l in_scale '__heurt_in_options; and __fish_seen_subcommand_from scale'
complete -c heurt -n "$in_scale" -l threads -x -a '1,2,4 1,2,4,8' -d 'So many threads'
complete -c heurt -n "$in_scale" -l cores -x -a '1,2 1,2,4' -d 'On so many CPUs'
complete -c heurt -n "$in_scale" -l repeat -x -a '3 5' -d 'So many runs of each'
complete -c heurt -n "$in_scale" -s o -l output -r -a '(__fish_complete_directories)' -d 'Directory of the runs'
complete -c heurt -n "$in_scale" -s q -l quiet -d 'Do not say how far it is'
complete -c heurt -n "$in_scale" -l table -x -a 'parts counts laws speedup' -d 'This table alone'
complete -c heurt -n "$in_scale" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_scale" -l json -d 'As JSON'
complete -c heurt -n "$in_scale" -l csv -d 'As comma-separated values'
complete -c heurt -n "$in_scale" -l latex -d 'As LaTeX'
complete -c heurt -n "$in_scale" -l markdown -d 'As Markdown'
set -l in_stat '__heurt_in_options; and __fish_seen_subcommand_from stat'
complete -c heurt -n "$in_stat" -s p -l pid -x -a '(__fish_complete_pids)' -d 'A process that runs'
complete -c heurt -n "$in_stat" -l duration -x -a '1s 10s 60s' -d 'No longer than that'
complete -c heurt -n "$in_stat" -l interval -x -a '1ms 5ms 20ms' -d 'Of the interval form of A'
complete -c heurt -n "$in_stat" -s o -l output -r -F -d 'Into a file'
complete -c heurt -n "$in_stat" -l table -x -a 'threads activity intervals model counters checks' -d 'This table alone'
complete -c heurt -n "$in_stat" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_stat" -l json -d 'As JSON'
complete -c heurt -n "$in_stat" -l csv -d 'As comma-separated values'
complete -c heurt -n "$in_stat" -l latex -d 'As LaTeX'
complete -c heurt -n "$in_stat" -l markdown -d 'As Markdown'

set -l in_induce '__fish_seen_subcommand_from induce'
complete -c heurt -n "$in_induce" -l level -x -a '25 50 75' -d 'One run with so much taken'
complete -c heurt -n "$in_induce" -l levels -x -a '0,25,50,75' -d 'Runs at each of these'
complete -c heurt -n "$in_induce" -l repeat -x -d 'So many rounds of all levels'
complete -c heurt -n "$in_induce" -l cpus -x -d 'It is taken from these'
complete -c heurt -n "$in_induce" -l node -x -d 'Of this NUMA node alone'
complete -c heurt -n "$in_induce" -l bytes -x -a '16M 64M' -d 'Of a buffer, the cache, or the file'
complete -c heurt -n "$in_induce" -l directory -x -a '(__fish_complete_directories)' -d 'Where the disk is written'
complete -c heurt -n "$in_induce" -s o -l output -r -F -d 'File to write'
complete -c heurt -n "$in_induce" -s q -l quiet -d 'Do not say how far it is'
complete -c heurt -n "$in_induce" -l table -x -a 'sensitivity levels times' -d 'This table alone'
complete -c heurt -n "$in_induce" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_induce" -l json -d 'As JSON'
complete -c heurt -n "$in_induce" -l csv -d 'As comma-separated values'
complete -c heurt -n "$in_induce" -l latex -d 'As LaTeX'
complete -c heurt -n "$in_induce" -l markdown -d 'As Markdown'
complete -c heurt -n "$in_induce" -a 'memory cache cpu disk'

set -l in_gate '__fish_seen_subcommand_from gate'
complete -c heurt -n "$in_gate" -l against -x -d 'Run this in turns with the program'
complete -c heurt -n "$in_gate" -l fail-if -x -d 'A regression is'
complete -c heurt -n "$in_gate" -l budget -x -a '60s 300s' -d 'Run no longer than that'
complete -c heurt -n "$in_gate" -l junit -r -d 'The conditions as JUnit XML'
complete -c heurt -n "$in_gate" -s o -l output -r -F -d 'File to write'
complete -c heurt -n "$in_gate" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_gate" -l markdown -d 'For a pull request'
complete -c heurt -n "$in_gate" -a '(__fish_complete_directories)'

set -l in_compare '__fish_seen_subcommand_from compare'
complete -c heurt -n "$in_compare" -l table -x -d 'Compare this table'
complete -c heurt -n "$in_compare" -l fail-if -x -d 'End with 3 if it is so, with 4 if undecided'
complete -c heurt -n "$in_compare" -l junit -r -d 'The conditions as JUnit XML'
complete -c heurt -n "$in_compare" -s o -l output -r -F -d 'File to write'
complete -c heurt -n "$in_compare" -l class -x -a 'site structure' -d 'What makes a class'
complete -c heurt -n "$in_compare" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_compare" -l json -d 'As JSON'
complete -c heurt -n "$in_compare" -l csv -d 'As comma-separated values'
complete -c heurt -n "$in_compare" -l markdown -d 'For a pull request'
complete -c heurt -n "$in_compare" -l html -r -d 'As a page for a browser'
complete -c heurt -n "$in_compare" -l flame -r -d 'A differential flame graph (SVG)'
complete -c heurt -n "$in_compare" -a '(__fish_complete_directories)'

set -l in_dump '__fish_seen_subcommand_from dump'
complete -c heurt -n "$in_dump" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_dump" -s t -l thread -x -d 'Of this thread only'
complete -c heurt -n "$in_dump" -s f -l function -x -d 'Of these functions only'
complete -c heurt -n "$in_dump" -l from -x -d 'From this time on'
complete -c heurt -n "$in_dump" -l to -x -d 'Up to this time'
complete -c heurt -n "$in_dump" -l json -d 'One JSON object an event'
complete -c heurt -n "$in_dump" -l raw -d 'As the words of the file'

set -l in_import '__fish_seen_subcommand_from import'
complete -c heurt -n "$in_import" -s o -l output -x -a '(__fish_complete_directories)' -d 'Trace to write'
complete -c heurt -n "$in_import" -s q -l quiet -d 'Say only what was passed over'
complete -c heurt -n "$in_import" -F
set -l in_export '__fish_seen_subcommand_from export'
complete -c heurt -n "$in_export" -s i -l input -x -a '(__fish_complete_directories)' -d 'Trace to read'
complete -c heurt -n "$in_export" -s o -l output -r -F -d 'File to write'
complete -c heurt -n "$in_export" -l text -d 'A line an event'
complete -c heurt -n "$in_export" -l json -d 'A JSON object a line'
complete -c heurt -n "$in_export" -s f -l function -x -d 'Of these functions only'
complete -c heurt -n "$in_export" -l raw -d 'As the words of the file'
complete -c heurt -n "$in_export" -l csv -d 'As comma-separated values'
complete -c heurt -n "$in_export" -l folded -d 'Stacks with their time, for flame graphs'
complete -c heurt -n "$in_export" -l otf2 -d 'An OTF2 archive'
complete -c heurt -n "$in_export" -l ctf -d 'A trace in the Common Trace Format'
complete -c heurt -n "$in_export" -l paje -d 'For ViTE and pj_dump'
complete -c heurt -n "$in_export" -l of -x -a 'work wait lost all' -d 'Which time of stacks'
complete -c heurt -n "$in_export" -l sqlite -d 'Tables of all analyses, a database'
complete -c heurt -n "$in_export" -l perfetto -d 'For ui.perfetto.dev'
complete -c heurt -n "$in_export" -l speedscope -d 'For speedscope, thread by thread'
complete -c heurt -n "$in_export" -l firefox -d 'For profiler.firefox.com'
complete -c heurt -n "$in_export" -l chrome -d 'Trace events of Chrome, the first million spans'
complete -c heurt -n "$in_export" -l pprof -d 'A profile for pprof'
complete -c heurt -n "$in_export" -l interesting -d 'Only what stands out'
complete -c heurt -n "$in_export" -s t -l thread -x -d 'Of this thread only'
complete -c heurt -n "$in_export" -l from -x -d 'From this time on'
complete -c heurt -n "$in_export" -l to -x -d 'Up to this time'

set -l in_hot '__heurt_in_options; and __fish_seen_subcommand_from hot'
complete -c heurt -n "$in_hot" -s o -l output -r -F -d 'Write the list to a file'
complete -c heurt -n "$in_hot" -l frequency -x -d 'Samples a second'
complete -c heurt -n "$in_hot" -l min -x -d 'Smallest share in per cent'
complete -c heurt -n "$in_hot" -l json -d 'As JSON'

set -l in_check '__heurt_in_options; and __fish_seen_subcommand_from check'
complete -c heurt -n "$in_check" -l json -d 'As JSON'
complete -c heurt -n "$in_check" -l machine -x -a '(__fish_complete_directories)' -d 'Judge a captured machine'

set -l in_explain '__fish_seen_subcommand_from explain'
complete -c heurt -n "$in_explain" -l markdown -d 'All words as a page'
complete -c heurt -n "$in_explain" -l width -x -d 'So many columns wide'
complete -c heurt -n "$in_explain" -a 'working waiting idle lost gain score confidence cost holder iteration sharing lock barrier'
