"""The yardstick: jinja2, configured as transformers configures it for chat templates.
Thread rule: one process. Flow: used by differential_test.py (needs the PyPI package Jinja2 3.1)."""

import collections.abc
import datetime
import functools
import json
import re
import warnings

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

# What prints an address or a class name of Python's, which no other engine can have; filters may have changed its
# case or put other characters between.
UNPRINTABLE = re.compile(
    r"at0x|at%200x|generator|<built-in|boundmethod|<class|<function|<loopcontext|iterator|<jinja2"
    r"|reversedobject"
)


def is_unprintable(text):
    return UNPRINTABLE.search(re.sub(r"[\s_!\-',\[\]]", "", text.lower())) is not None


class Generation(Extension):
    """{% generation %}: marks the assistant's text in training; its body renders unchanged."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Once:
    """A generator that cannot be printed: what it prints is an address, which templates may measure or split."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.items)

    def __repr__(self):
        raise Unprintable()


def once(function):
    """`function`, its generators made Once."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        result = function(*args, **kwargs)
        return Once(result) if isinstance(result, collections.abc.Iterator) else result

    return wrapped


class Unprintable(BaseException):
    """The template prints an address."""


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    env.filters = {name: once(function) for name, function in env.filters.items()}
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return env


ENV = environment()
# Python warns of templates such as {{ 1[0] }}; what counts is that they fail.
warnings.simplefilter("ignore", SyntaxWarning)


def render(template, variables):
    """The rendered text, or None where jinja2 refuses; the second value is the reason or None."""
    try:
        text = ENV.from_string(template).render(**variables)
        text.encode("utf-8")
        return text, None
    except RecursionError:
        raise
    except Exception as error:  # pylint: disable=broad-except
        return None, f"{type(error).__name__}: {error}"
