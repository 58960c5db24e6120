"""The program bpe_hub_driver: loads tokenizers and encodes texts, all lines of a run at once."""
import json
import subprocess


class Driver:
    def __init__(self, path):
        self.path = path

    def run(self, lines):
        """One answer for each line, in order."""
        text = "".join(json.dumps(line) + "\n" for line in lines)
        out = subprocess.run([self.path], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
        assert len(out) == len(lines), f"{len(out)} answers to {len(lines)} lines"
        return [json.loads(line) for line in out]

    def encode(self, load, cases):
        """The answers to `cases` by the tokenizer that `load` describes."""
        answers = self.run([load] + cases)
        assert "error" not in answers[0], f"{load}: {answers[0]['error']}"
        return answers[1:]
