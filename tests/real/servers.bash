# servers.bash: a server that runs under heurt record while others load it. One at a time.

teardown() {
    [ -z "${server-}" ] || kill -9 "$server" 2>/dev/null || :
}

start_server() { # [OPTION…] -- COMMAND…: in the background, recorded into t
    "$HEURT" record -o t --max-size 2G "$@" >server_out 2>err </dev/null 3>&- &
    recorder=$!
}

# memcached with so many threads, which listens on the socket.
start_memcached() { # THREADS [OPTION…]
    local user=
    command -v memcached >/dev/null || skip "memcached is not installed"
    [ "$(id -u)" != 0 ] || user="-u root"
    # shellcheck disable=SC2086
    start_server "${@:2}" -- memcached $user -t "$1" -s "$PWD/socket"
    wait_for test -S socket
}

# redis-server, which listens on the socket.
start_redis() { # [OPTION…] -- [REDIS-OPTION…]
    command -v redis-server >/dev/null || skip "redis-server is not installed"
    command -v redis-benchmark >/dev/null || skip "redis-benchmark is not installed"
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    start_server "${options[@]}" -- redis-server --port 0 --unixsocket "$PWD/socket" --save '' \
        --dir "$PWD" "${@:2}"
    wait_for test -S socket
}

# The server's own process: a child of the recorder.
server_pid() {
    server=$(tr -d " " 2>/dev/null <"/proc/$recorder/task/$recorder/children")
    [ -n "$server" ]
}

end_server() { # SIGNAL: ends it, $ended is the recorder's status
    wait_for server_pid
    kill "-$1" "$server"
    ended=0
    wait "$recorder" || ended=$?
    server=
}
