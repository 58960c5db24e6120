"""The `openai` package chats with the server: whole, streamed, errors as its exception classes.

usage: openai_test.py [unittest arguments]; exit status 77 where the package is not installed
"""
import sys
import unittest

from serving import SMOLLM2, TINY, Server

try:
    import openai
except ImportError:
    print('the Python package openai is not installed')
    sys.exit(77)

QUESTION = [{'role': 'user', 'content': 'What is the capital of France?'}]


class OpenAi(unittest.TestCase):
    def client(self, server):
        return openai.OpenAI(base_url=f'http://127.0.0.1:{server.port}/v1', api_key='none', max_retries=0, timeout=60)

    def check_chat(self, server):
        """The same answer whole and streamed, by the package's own types."""
        client = self.client(server)
        model = client.models.list().data[0].id
        self.assertEqual(client.models.retrieve(model).id, model)
        ask = {'model': model, 'messages': QUESTION, 'temperature': 0, 'max_completion_tokens': 16}
        whole = client.chat.completions.create(**ask)
        self.assertTrue(whole._request_id.startswith('req_'))
        self.assertIn(whole.choices[0].finish_reason, ('stop', 'length'))
        self.assertEqual(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens)
        chunks = list(client.chat.completions.create(**ask, stream=True, stream_options={'include_usage': True}))
        text = ''.join(chunk.choices[0].delta.content or '' for chunk in chunks if chunk.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens)
        with self.assertRaises(openai.NotFoundError) as caught:
            client.chat.completions.create(**{**ask, 'model': 'other'})
        self.assertEqual(caught.exception.code, 'model_not_found')
        with self.assertRaises(openai.BadRequestError) as caught:
            client.chat.completions.create(**{**ask, 'temperature': 'hot'})
        self.assertEqual(caught.exception.param, 'temperature')
        return text

    def test_real_model(self):
        with Server(SMOLLM2) as server:
            self.assertIn('Paris', self.check_chat(server))
            logprobs = self.client(server).chat.completions.create(
                model='SmolLM2-135M-Instruct.Q4_1', messages=QUESTION, temperature=0, max_tokens=3, logprobs=True,
                top_logprobs=2).choices[0].logprobs.content
            self.assertEqual([len(token.top_logprobs) for token in logprobs], [2, 2, 2])

    def test_tiny_model(self):
        with Server(TINY) as server:
            self.check_chat(server)


if __name__ == '__main__':
    unittest.main()
