"""What the tidy rules need to know of C and C++ text: code without comments and strings, and where functions lie.

Thread rule: pure functions. Flow: used by tidy.py. Right for code that clang-format laid out: a function's opening
brace follows a blank, the brace of an initialiser doesn't.
"""
import re

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",  # character literals, not the separator of digits
    re.DOTALL)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.MULTILINE)
_TYPE = re.compile(r'^(?:template\s*<.*>\s*)?(?:typedef\s+|static\s+|inline\s+|constexpr\s+)*'
                   r'(?:class|struct|union|enum)\b', re.DOTALL)


def _blank(match):
    """The same number of lines, nothing else; a string keeps its quotes."""
    text = match.group(0)
    return ('""' if text[0] in '"R' else ' ') + '\n' * text.count('\n')


def code_of(text):
    """The text with comments, strings and character literals emptied; line numbers stay."""
    return _TOKEN.sub(_blank, text)


def first_comment(text):
    """The comment that the text begins with, or ''."""
    if text.startswith('/*'):
        return text[:text.find('*/') + 2]
    lines = []
    for line in text.splitlines():
        if not line.startswith('//'):
            break
        lines.append(line)
    return '\n'.join(lines)


def functions(text):
    """(first line, number of lines) of each function body's definition; lambdas and local types count to theirs."""
    code = _DIRECTIVE.sub(lambda m: '\n' * m.group(0).count('\n'), code_of(text))
    scopes = []  # of each open brace: 'outer' (namespace, type), 'function', 'inner', or 'value' (an initialiser)
    starts = []
    statement, statement_line, line = '', 1, 1
    for position, character in enumerate(code):
        if character == '\n':
            line += 1
        if character == '{':
            kind = _kind(statement, code[position - 1] if position else ' ', scopes)
            scopes.append(kind)
            if kind == 'function':
                starts.append(statement_line)
            if kind != 'value':
                statement = ''
            continue
        if character == '}':
            kind = scopes.pop() if scopes else 'outer'
            if kind == 'function':
                first = starts.pop()
                yield first, line - first + 1
            if kind != 'value':
                statement = ''
            continue
        if character == ';':
            statement = ''
            continue
        if not statement.strip():
            statement, statement_line = '', line
        statement += character


def _kind(statement, before, scopes):
    if scopes and scopes[-1] != 'outer':
        return 'value' if scopes[-1] == 'value' else 'inner'
    words = statement.strip()
    if re.search(r'\bnamespace\b', words) or words.startswith('extern ""'):
        return 'outer'
    if _TYPE.match(words) and not words.endswith(')'):
        return 'outer'
    if not before.isspace() or words.endswith('=') or '(' not in words:
        return 'value'
    return 'function'
