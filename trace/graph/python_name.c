#include "trace/graph/python_name.h"

/* The words of keyword.kwlist. */
#define K(word)               \
    {                         \
        word, sizeof word - 1 \
    }
// clang-format off
static const struct {
    char text[9];
    uint8_t n;
} KEYWORDS[] = {
    K("False"), K("None"), K("True"), K("and"), K("as"), K("assert"), K("async"), K("await"),
    K("break"), K("class"), K("continue"), K("def"), K("del"), K("elif"), K("else"), K("except"),
    K("finally"), K("for"), K("from"), K("global"), K("if"), K("import"), K("in"), K("is"),
    K("lambda"), K("nonlocal"), K("not"), K("or"), K("pass"), K("raise"), K("return"), K("try"),
    K("while"), K("with"), K("yield"),
};
// clang-format on

enum {
    WORD = 1, /* the bit of all characters of a word */
    LETTER = WORD | 2,
    OTHER = WORD | 4
};

/* The class of each character of a word: keywords consist of letters only. */
static const uint8_t classes[256] = {
    ['0'] = OTHER,  ['1'] = OTHER,  ['2'] = OTHER,  ['3'] = OTHER,  ['4'] = OTHER,  ['5'] = OTHER,
    ['6'] = OTHER,  ['7'] = OTHER,  ['8'] = OTHER,  ['9'] = OTHER,  ['_'] = OTHER,  ['A'] = LETTER,
    ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER,
    ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER,
    ['T'] = LETTER, ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER,
    ['Z'] = LETTER, ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER,
    ['f'] = LETTER, ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER,
    ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER,
    ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER,
    ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
};

/* Returns the kinds of characters in a word, as bits; 0 if the text is no word. */
static unsigned kinds_in(struct str text)
{
    unsigned any = 0, all = WORD;
    if (text.n == 0 || is_digit(text.p[0]))
        return 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned kind = classes[(unsigned char)text.p[i]];
        any |= kind;
        all &= kind;
    }
    return all ? any : 0;
}

bool python_is_word(struct str text)
{
    return kinds_in(text) != 0;
}

bool python_is_keyword(struct str text)
{
    enum { LONGEST = 8 };
    if (text.n > LONGEST)
        return false;
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++)
        if (text.n == KEYWORDS[i].n && text.p[0] == KEYWORDS[i].text[0] &&
            memcmp(text.p, KEYWORDS[i].text, text.n) == 0)
            return true;
    return false;
}

bool python_reserve(struct intern *taken)
{
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++)
        if (intern(taken, str_of(KEYWORDS[i].text)) == INTERN_NONE)
            return false;
    return true;
}

bool python_is_name(struct str text)
{
    unsigned kinds = kinds_in(text);
    return kinds && ((kinds & ~(unsigned)LETTER) || !python_is_keyword(text));
}

/* Returns the number of words with dots between them; 0 if the text is something else. */
static size_t count_words(struct str text)
{
    size_t n = 0;
    for (;;) {
        size_t dot = str_find_char(text, '.');
        if (!python_is_word(str_first(text, dot)))
            return 0;
        n++;
        if (dot == text.n)
            return n;
        text = str_from(text, dot + 1);
    }
}

bool python_is_dotted(struct str text)
{
    return count_words(text) > 0 && python_is_name(str_first(text, str_find_char(text, '.')));
}

static bool is_extension(struct str target)
{
    size_t colons = 0;
    for (size_t i = 1; i < target.n; i++) {
        colons += target.p[i] == ':';
        if (!is_word_char(target.p[i]) && target.p[i] != ':' && target.p[i] != '.')
            return false;
    }
    return colons > 0;
}

enum target_form target_form_of(struct str target)
{
    const struct str OPS = STR("torch.ops.");
    if (target.n && target.p[0] == '#')
        return is_extension(target) ? TARGET_EXTENSION : TARGET_NEITHER;
    size_t words = str_starts(target, OPS) ? count_words(str_from(target, OPS.n)) : 0;
    if (words == 2 || words == 3)
        return TARGET_OPERATOR;
    return python_is_dotted(target) ? TARGET_FUNCTION : TARGET_NEITHER;
}

bool device_is_spelled(struct str device)
{
    enum { INDEX_MOST = 127 };
    size_t colon = str_find_char(device, ':');
    uint64_t index = 0;
    for (size_t i = 0; i < colon; i++)
        if (!((device.p[i] >= 'a' && device.p[i] <= 'z') || device.p[i] == '_'))
            return false;
    return colon > 0 && colon <= 32 &&
           (colon == device.n ||
            (str_to_u64(str_from(device, colon + 1), &index) && index <= INDEX_MOST));
}
