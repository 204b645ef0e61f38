/* A ticket lock with tickets modulo M, as in benches/programs/ticket.fw. */
#define N 3
#define M 48
byte next;
byte serving;
byte critical;

active [N] proctype P() {
    byte my;
    bit won;
    do
    ::  do
        ::  my = next;
            atomic {
                if
                ::  next == my -> next = (my + 1) % M; won = 1
                ::  else -> won = 0
                fi
            };
            if :: won -> break :: else fi
        od;
        do :: serving == my -> break :: else od;
        critical++;
        assert(critical == 1);
        critical--;
        serving = (my + 1) % M
    od
}
