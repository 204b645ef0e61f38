//! No comment is lost, doubled or taken off its line without need.

use super::formatted;

fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected, "{text}");
    assert_eq!(formatted(expected), expected, "not stable: {text}");
}

#[test]
fn comments_stay_where_they_can() {
    check("// a\n\n// b\nconst N = 1; // c\n// d\n", "// a\n\n// b\nconst N = 1; // c\n// d\n");
    check("// a\n\nconst N = 1;\n\n// d", "// a\n\nconst N = 1;\n\n// d\n");
    check("thread T { // a\n // b\n x = 1; // c\n\n // d\n } // e", {
        "thread T { // a\n    // b\n    x = 1; // c\n\n    // d\n} // e\n"
    });
    check("thread T {\n x = 1; /* a */ // b\n}", "thread T {\n    x = 1; /* a */ // b\n}\n");
    check("thread T {\nl: // a\n}", "thread T {\nl: // a\n}\n");
    check("thread T {\n  // a\n  l:\n}", "thread T {\n// a\nl:\n}\n");
    check("thread T { /* a */ }", "thread T {\n    /* a */\n}\n");
    check("thread T { // a\n}", "thread T { // a\n}\n");
    check("thread T { if (x) { // a\n } else { // b\n } }", {
        "thread T {\n    if (x) { // a\n    } else { // b\n    }\n}\n"
    });
    check("// only", "// only\n");
    check("//a  \r\n/* b\r\n c */\r\n", "//a\n/* b\n c */\n");
}

#[test]
fn comments_in_odd_places_move_to_the_statement_or_item() {
    check("const /* a */ N /* b */ = 1 /* c */;", "/* a */\n/* b */\n/* c */\nconst N = 1;\n");
    check("thread T { x = 1; /* a */ y = 2; }", "thread T {\n    x = 1;\n    /* a */\n    y = 2;\n}\n");
    check("thread T { x = 1; /* a */ }", "thread T {\n    x = 1; /* a */\n}\n");
    check("thread T { x = // a\n 1; }", "thread T {\n    // a\n    x = 1;\n}\n");
    check("thread T { if (x) { y = 1; /* a */ } /* b */ else /* c */ { } }", {
        "thread T {\n    /* b */\n    /* c */\n    if (x) {\n        y = 1; /* a */\n    } else {}\n}\n"
    });
    check("thread T { if (x) {} else /* a */ if /* b */ (y) {} }", {
        "thread T {\n    /* a */\n    /* b */\n    if (x) {} else if (y) {}\n}\n"
    });
    check("thread T { choose {} // a\n or {} }", "thread T {\n    // a\n    choose {} or {}\n}\n");
    check(
        "thread T { do {} /* a */ while (x) /* b */; }",
        "thread T {\n    /* a */\n    /* b */\n    do {} while (x);\n}\n",
    );
    check("thread T // a\n{ }", "// a\nthread T {}\n");
    check("thread T { f(1, // a\n 2 // b\n); }", "thread T {\n    // a\n    // b\n    f(1, 2);\n}\n");
    check("// z\n\nconst N = /* a */ 1;", "// z\n\n/* a */\nconst N = 1;\n");
}
