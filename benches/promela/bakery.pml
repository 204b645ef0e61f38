/* Lamport's bakery with bounded tickets, as in benches/programs/bakery.fw. */
#define N 3
#define MAX 12
byte choosing[N];
byte number[N];
byte critical;

active [N] proctype P() {
    byte max;
    byte n;
    byte k;
    do
    ::  choosing[_pid] = 1;
        max = 0;
        k = 0;
        do
        ::  k < N -> n = number[k]; if :: n > max -> max = n :: else fi; k++
        ::  else -> break
        od;
        (max < MAX);
        number[_pid] = max + 1;
        choosing[_pid] = 0;
        k = 0;
        do
        ::  k < N ->
            if
            ::  k != _pid ->
                do :: choosing[k] == 0 -> break :: else od;
                do
                ::  n = number[k];
                    if
                    ::  n == 0 || n > max + 1 || (n == max + 1 && k > _pid) -> break
                    ::  else
                    fi
                od
            ::  else
            fi;
            k++
        ::  else -> break
        od;
        critical++;
        assert(critical == 1);
        critical--;
        number[_pid] = 0
    od
}
