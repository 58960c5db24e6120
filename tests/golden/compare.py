"""Comparison with golden rows: the fixtures' tolerance table (tests/data/fixtures/README.md).

Flow: imported by the golden tests."""

F32 = {"logits": 1e-3, "argmax": 1.0}
F16 = {"logits": 3e-2, "argmax": 0.97}


def greedy_requests(cases):
    return [{"id": f"g{i}", "tokens": c["ids"], "max_tokens": 16, "temperature": 0, "ignore_eos": True,
             "top_logprobs": 20} for i, c in enumerate(cases)]


def score_requests(cases):
    return [{"id": f"e{i}", "tokens": c["ids"], "max_tokens": 0, "echo": True, "top_logprobs": 1}
            for i, c in enumerate(cases)]


def worst_difference(answer, case):
    """Largest difference of log-probabilities over the golden's top 20, in standard deviations of the logits."""
    top = dict(map(tuple, answer["logprobs"][0]["top"]))
    golden = dict(zip(case["top32_ids"][:20], case["top32_logits"][:20]))
    shared = [abs(top[t] - (x - case["logsumexp"])) for t, x in golden.items() if t in top]
    return max(shared) / case["std"] if len(shared) >= 15 else float("inf")


def argmax_share(answer, case):
    """Share of positions whose likeliest next token is the golden's."""
    got = [row["top"][0][0] for row in answer["logprobs"][1:]]
    want = case["argmax_each_position"][:len(got)]
    return sum(a == b for a, b in zip(got, want)) / max(len(want), 1)


def mean_nll(answer):
    values = [-row["logprob"] for row in answer["logprobs"][1:]]
    return sum(values) / len(values)


def check_cases(checks, name, answers, cases, tolerance):
    """All cases of a golden file against a tolerance row."""
    for i, case in enumerate(cases):
        greedy, scored, what = answers[f"g{i}"], answers[f"e{i}"], f"{name} n={case['n']}"
        exact = tolerance is F32
        margin = (case["top32_logits"][0] - case["top32_logits"][1]) / case["std"]
        if exact or margin > 0.05:
            checks.that(greedy["logprobs"][0]["top"][0][0] == case["top32_ids"][0], what, "top-1")
        if exact:
            checks.that(greedy["tokens"] == case["greedy16"], what, "greedy", greedy["tokens"], case["greedy16"])
        worst = worst_difference(greedy, case)
        checks.that(worst < tolerance["logits"], what, "logits", worst)
        if case["n"] > 1:
            checks.that(argmax_share(scored, case) >= tolerance["argmax"], what, "argmax", argmax_share(scored, case))
            checks.that(abs(mean_nll(scored) - case["mean_nll"]) < 10 * tolerance["logits"], what, "nll")
