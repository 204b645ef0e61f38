// Types that are nested so deeply that nobody reads them.
type Twice<T> = (T, T);

fn main() {
    let x: Vec<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<Twice<
        u8
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>
        >>>>>>>>>>,
    >;
    std::thread::spawn(|| {}).join().unwrap();
}
