/* The filter lock (Peterson for N threads), as in benches/programs/peterson.fw. */
#define N 4
byte level[N];
byte victim[N];
byte critical;

active [N] proctype P() {
    byte l;
    byte k;
    do
    ::  l = 1;
        do
        ::  l < N ->
            level[_pid] = l;
            victim[l] = _pid;
            k = 0;
            do
            ::  k < N ->
                if
                ::  k != _pid ->
                    do
                    ::  level[k] < l -> break
                    ::  else ->
                        if
                        ::  victim[l] != _pid -> break
                        ::  else
                        fi
                    od
                ::  else
                fi;
                k++
            ::  else -> break
            od;
            l++
        ::  else -> break
        od;
        critical++;
        assert(critical == 1);
        critical--;
        level[_pid] = 0
    od
}
