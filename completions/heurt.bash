# bash completion for heurt(1)

# Options of each command; those that take a value are listed again in _heurt_takes_value.
_heurt_options() {
    case $1 in
    record) echo '-o -p -f -F -M -A -q --output --function --functions-from --module --arguments --stack-every --stack-bytes --raw-stacks --redact-arguments --max-size --no-pack --aggregate --overhead --locks --choose-after --patience --no-choice --no-loops --no-kernel --no-memory --instructions --hot --local --clock-offset-test --report --pid --duration --after --repeat --ring --trigger --segment --keep --paused --start-stop --quiet --help' ;;
    ctl) echo '--last --help' ;;
    gate) echo '-o --output --against --fail-if --budget --junit --width --markdown --help' ;;
    compare) echo '-o --output --table --fail-if --junit --class --base --rows --width --json --csv --markdown --latex --html --flame --help' ;;
    scale) echo '-o -q --threads --cores --repeat --output --quiet --table --width --json --csv --latex --markdown --help' ;;
    induce) echo '-o -q --level --levels --repeat --cpus --node --bytes --directory --output --quiet --table --width --json --csv --latex --markdown --help' ;;
    stat) echo '-p -o --pid --duration --interval --output --table --width --json --csv --latex --markdown --help' ;;
    report) echo '-i --input --classes --slowest --threshold --width --key --ignore --forget --no-rules --class --coverage --audit --compare --slow --at --fast --median --from --last --to --thread --json --csv --markdown --html --fail-if --junit --help' ;;
    view) echo '-i --input --help' ;;
    locks) echo '-i --input --lock --site --min-wait --thread --from --to --path --dot --audit --width --json --csv --help' ;;
    memory) echo '-i --input --lines --pages --flow --picture --all --counted --width --json --csv --help' ;;
    place) echo '-i -o -p --input --script --output --all --pid --cgroup --user --budget --dry-run --plan --status --replay --machine --interval --set --thresholds --width --json --csv --help' ;;
    mpi) echo '-i --input --width --matrix --late-message --late-collective --json --csv --help' ;;
    analyse) echo '-i --input --help' ;;
    merge) echo '-o -q --output --no-pack --quiet --help' ;;
    openmp) echo '-i --input --width --json --csv --help' ;;
    structure) echo '-i --input --thread --depth --all --interesting --grammar --width --json --csv --help' ;;
    whatif) echo '-i --input --remove --speed --shrink --split --schedule --balance --threads --ranks --all --class --width --json --csv --help' ;;
    tables) echo '-i --input --format --where --sort --class --help' ;;
    hot) echo '-o --output --frequency --min --json --help' ;;
    dump) echo '-i -t -f --input --thread --function --from --to --json --raw --help' ;;
    export) echo '-i -o -t -f --input --output --text --json --csv --raw --sqlite --folded --otf2 --ctf --paje --of --perfetto --speedscope --firefox --chrome --pprof --interesting --thread --function --from --to --help' ;;
    import) echo '-o -q --output --quiet --help' ;;
    check) echo '--json --machine --help' ;;
    explain) echo '--markdown --width --help' ;;
    esac
}

_heurt_takes_value() {
    case $1 in
    -[ofFMAipt] | --functions-from | --module | --arguments | --machine | --stack-every | --stack-bytes | --max-size | --overhead | --locks | --choose-after | --patience | --local | --clock-offset-test | --threshold | --key | --ignore | \
        --forget | --input | --output | --frequency | --min | --lock | --site | --remove | --speed | --shrink | --split | --schedule | --balance | --threads | --ranks | --slow | --at | --fast | --class | --last | --depth | --min-wait | --thread | --function | --from | --to | --format | --where | --sort | --width | --report | --html | --flame | --repeat | --table | --cores | --fail-if | --junit | --of | --counted | --pid | --duration | --after | --interval | --level | --levels | --cpus | --node | --bytes | --directory | --base | --rows | --replay | --set | --ring | --trigger | --segment | --keep | --start-stop) return 0 ;;
    esac
    return 1
}

# Where the program stands in COMP_WORDS, seen from word $1 on; nothing while options are typed.
_heurt_program_at() {
    local at
    for ((at = $1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
        --) echo $((at + 1)) && return ;;
        -*) _heurt_takes_value "${COMP_WORDS[at]}" && ((at++)) ;;
        *) echo "$at" && return ;;
        esac
    done
}

_heurt_words='working waiting idle lost gain score confidence cost holder iteration sharing lock barrier spinning imbalance'

_heurt_lines() { # each line of stdin a candidate
    local line
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done
}

_heurt_program() { # the word of the program, or one of its own arguments
    local at=$1
    if ((COMP_CWORD == at)); then
        compopt -o filenames 2>/dev/null
        _heurt_lines < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}" | sort -u
            compgen -d -- "${COMP_WORDS[COMP_CWORD]}")
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$at"
    else
        compopt -o filenames 2>/dev/null
        _heurt_lines < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

_heurt_value() { # the value of option $1
    local word=${COMP_WORDS[COMP_CWORD]}
    case $1 in
    -o | -i | --input | --output | --machine | --counted)
        compopt -o filenames 2>/dev/null
        _heurt_lines < <(compgen -d -- "$word")
        ;;
    -F | -M | --functions-from | --module | --picture)
        compopt -o filenames 2>/dev/null
        _heurt_lines < <(compgen -f -- "$word")
        ;;
    --max-size) _heurt_lines < <(compgen -W '256M 1G 4G 16G' -- "$word") ;;
    --ring) _heurt_lines < <(compgen -W '16M 64M 256M' -- "$word") ;;
    --trigger) _heurt_lines < <(compgen -W 'SIGUSR1 SIGUSR2 exit crash' -- "$word") ;;
    --start-stop) _heurt_lines < <(compgen -W 'SIGUSR1 SIGUSR2' -- "$word") ;;
    --overhead) _heurt_lines < <(compgen -W '1% 5% 10% none' -- "$word") ;;
    --min-wait) _heurt_lines < <(compgen -W '20us 1ms 10ms' -- "$word") ;;
    --threshold) _heurt_lines < <(compgen -W '0.1 0.2 0.3' -- "$word") ;;
    --format) _heurt_lines < <(compgen -W 'text csv json latex markdown' -- "$word") ;;
    --flow) _heurt_lines < <(compgen -W 'thread= object=' -- "$word") ;;
    --class) _heurt_lines < <(compgen -W 'site structure' -- "$word") ;;
    esac
}

_heurt() {
    COMPREPLY=()
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verbs='record report view locks memory openmp mpi analyse merge ctl place structure whatif tables compare gate scale induce stat hot dump export import check explain' verb=record from=1 program
    case " $verbs " in
    *" ${COMP_WORDS[1]} "*) ((COMP_CWORD > 1)) && verb=${COMP_WORDS[1]} from=2 ;;
    esac

    program=$(_heurt_program_at "$from")
    case $verb in
    record | hot | check | scale | stat)
        if [ -n "$program" ]; then
            _heurt_program "$program"
            return
        fi
        ;;
    esac
    if ((COMP_CWORD > from)) && _heurt_takes_value "$previous"; then
        _heurt_value "$previous"
        return
    fi
    if [[ $word == -* ]]; then
        local options
        options=$(_heurt_options "$verb")
        ((COMP_CWORD == 1)) && options+=' --version'
        _heurt_lines < <(compgen -W "$options" -- "$word")
        return
    fi
    if ((COMP_CWORD == 1)); then
        _heurt_lines < <(compgen -W "$verbs help" -- "$word")
    fi
    case $verb in
    record | hot | check | scale | stat) _heurt_program "$COMP_CWORD" ;;
    compare | gate)
        compopt -o filenames 2>/dev/null
        _heurt_lines < <(compgen -d -- "$word")
        ;;
    induce) _heurt_lines < <(compgen -W 'memory cache cpu disk lock' -- "$word") ;;
    explain) _heurt_lines < <(compgen -W "$_heurt_words" -- "$word") ;;
    tables) _heurt_lines < <(compgen -W "$("${COMP_WORDS[0]}" tables --format csv 2>/dev/null |
        tail -n +2 | cut -d, -f1 | uniq)" -- "$word") ;;
    esac
}

complete -F _heurt heurt
