"""Message lists and tools over which the corpus of templates is rendered.
Thread rule: constants. Flow: used by differential_test.py."""

SYSTEM = {"role": "system", "content": "You are terse.\n"}
USER = {"role": "user", "content": 'What\'s 2 < 3 & "4"?'}
ANSWER = {"role": "assistant", "content": "  Yes — 2 < 3. "}
MORE = {"role": "user", "content": "Und größer?\n\nNoch eins. "}
THOUGHT = {"role": "assistant", "content": "<think>\nLet me see.\n</think>\n\nIt is 4."}
REASONED = {"role": "assistant", "reasoning_content": "Hm, easy.", "content": "Done."}
CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "call12345",
            "type": "function",
            "function": {
                "name": "weather",
                "arguments": {"city": "Zürich", "days": 2, "x": [1.0, None, True]},
            },
        }
    ],
}
TWO_CALLS = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [
        {
            "id": "aaaaaaaaa",
            "type": "function",
            "function": {"name": "weather", "arguments": {"city": "Rome"}},
        },
        {"id": "bbbbbbbbb", "type": "function", "function": {"name": "clock", "arguments": {}}},
    ],
}
RESULT = {
    "role": "tool",
    "tool_call_id": "call12345",
    "name": "weather",
    "content": '{"sky": "clear", "t": 21.5}',
}
RESULT_A = {"role": "tool", "tool_call_id": "aaaaaaaaa", "name": "weather", "content": "rain"}
RESULT_B = {"role": "tool", "tool_call_id": "bbbbbbbbb", "name": "clock", "content": {"h": 12}}
PARTS = {
    "role": "user",
    "content": [{"type": "text", "text": "one "}, {"type": "image"}, {"type": "text", "text": "two"}],
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": 'Weather of a <city> & "days".',
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Name — größer"},
                    "days": {"type": "integer", "default": 1, "enum": [1, 2, 3]},
                    "where": {"type": ["string", "null"]},
                    "opts": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"k": {"type": "number"}},
                            "required": ["k"],
                        },
                    },
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "clock",
            "description": "The time.",
            "parameters": {"type": "object", "properties": {}},
        },
    },
]
DOCUMENTS = [{"title": "T1", "text": "Some text."}, {"title": "T2", "text": "More."}]
LISTS = {
    "one": [USER],
    "system": [SYSTEM, USER],
    "turns": [SYSTEM, USER, ANSWER, MORE],
    "no system": [USER, ANSWER, MORE],
    "ends with answer": [USER, ANSWER],
    "thought": [USER, THOUGHT, MORE],
    "reasoned": [SYSTEM, USER, REASONED, MORE],
    "call": [SYSTEM, USER, CALL, RESULT],
    "call and answer": [USER, CALL, RESULT, ANSWER, MORE],
    "two calls": [USER, TWO_CALLS, RESULT_A, RESULT_B],
    "parts": [SYSTEM, PARTS],
    "only system": [SYSTEM],
    "two users": [USER, MORE],
    "strange role": [{"role": "narrator", "content": "x"}, USER],
    "empty": [],
    "open call": [USER, CALL],
    "null content": [USER, {"role": "assistant", "content": None}, MORE],
}


def all_variables():
    """(name, variables) for every list, with and without tools and with the switches that templates know."""
    for name, messages in LISTS.items():
        base = {
            "messages": messages,
            "tools": None,
            "documents": None,
            "bos_token": "<s>",
            "eos_token": "</s>",
            "add_generation_prompt": True,
            "date_string": "26 Jul 2024",
        }
        yield name, base
        yield name + ", tools", dict(base, tools=TOOLS)
        yield name + ", no prompt", dict(base, add_generation_prompt=False)
        yield name + ", no thinking", dict(base, enable_thinking=False, reasoning_effort="high", tools=TOOLS)
        yield name + ", documents", dict(base, documents=DOCUMENTS, enable_thinking=True)
        yield name + ", bare", {"messages": messages}
