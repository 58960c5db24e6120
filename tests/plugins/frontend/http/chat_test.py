"""Chat completions: fields in, fields out, errors; with a real model.

usage: chat_test.py [unittest arguments]
"""
import json
import unittest

from serving import SMOLLM2, Server, joined

ERROR_KEYS = {'message', 'type', 'param', 'code'}


class Chat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(SMOLLM2)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def refused(self, param, status=400, code=None, **fields):
        got, answer = self.server.chat(**fields)
        self.assertEqual(got, status, (fields, answer))
        error = answer['error']
        self.assertLessEqual(ERROR_KEYS, set(error))
        self.assertEqual(error['param'], param, fields)
        self.assertIsInstance(error['code'], str)
        if code:
            self.assertEqual(error['code'], code)
        return error

    def test_answers_a_question(self):
        status, answer = self.server.chat(
            messages=[{'role': 'user', 'content': 'What is the capital of France?'}], max_tokens=16)
        self.assertEqual(status, 200)
        choice = answer['choices'][0]
        self.assertIn('Paris', choice['message']['content'])
        self.assertEqual((answer['object'], choice['index'], choice['finish_reason'], choice['message']['role']),
                         ('chat.completion', 0, 'stop', 'assistant'))
        usage = answer['usage']
        self.assertEqual(usage['total_tokens'], usage['prompt_tokens'] + usage['completion_tokens'])
        self.assertIn('cached_tokens', usage['prompt_tokens_details'])

    def test_stream_says_the_same(self):
        whole = self.server.chat(max_tokens=12)[1]
        events = self.server.stream(max_tokens=12)
        self.assertEqual(joined(events), whole['choices'][0]['message']['content'])
        self.assertEqual(events[0]['choices'][0]['delta'], {'role': 'assistant', 'content': ''})
        self.assertEqual(events[-1]['choices'][0]['delta'], {})
        self.assertEqual(events[-1]['choices'][0]['finish_reason'], whole['choices'][0]['finish_reason'])
        self.assertEqual(len({(event['id'], event['created'], event['model'], event['object']) for event in events}), 1)
        self.assertTrue(all('usage' not in event and event['choices'] for event in events))

    def test_stream_with_usage(self):
        events = self.server.stream(stream_options={'include_usage': True})
        self.assertEqual(events[-1]['choices'], [])
        self.assertTrue(all(event['usage'] is None and event['choices'] for event in events[:-1]))
        usage = self.server.chat()[1]['usage']
        for key in ('prompt_tokens', 'completion_tokens', 'total_tokens'):
            self.assertEqual(events[-1]['usage'][key], usage[key])
        self.refused('stream_options', stream_options={'include_usage': True})

    def test_max_tokens(self):
        for fields in ({'max_tokens': 3}, {'max_tokens': None, 'max_completion_tokens': 3},
                       {'max_tokens': 10, 'max_completion_tokens': 3}):
            answer = self.server.chat(ignore_eos=True, **fields)[1]
            self.assertEqual(answer['usage']['completion_tokens'], 3)
            self.assertEqual(answer['choices'][0]['finish_reason'], 'length')
        for wrong in (0, -1, '5', 2.5, True, [3], 1 << 40):
            self.refused('max_tokens', max_tokens=wrong)
            self.refused('max_completion_tokens', max_completion_tokens=wrong)

    def test_developer_is_system(self):
        user = {'role': 'user', 'content': 'Sky colour?'}
        counts = {role: self.server.chat(messages=[{'role': role, 'content': 'Answer with one word.'}, user])[1]
                  ['usage']['prompt_tokens'] for role in ('developer', 'system')}
        self.assertEqual(counts['developer'], counts['system'])
        self.refused('messages[0].role', messages=[{'role': 'banana', 'content': 'x'}])

    def test_content_parts_are_joined(self):
        parts = [{'type': 'text', 'text': 'Part one. '}, {'type': 'text', 'text': 'Part two.'}]
        answers = [self.server.chat(messages=[{'role': 'user', 'content': content}], max_tokens=8)[1]
                   for content in (parts, 'Part one. Part two.')]
        self.assertEqual(answers[0]['usage']['prompt_tokens'], answers[1]['usage']['prompt_tokens'])
        self.assertEqual(answers[0]['choices'], answers[1]['choices'])
        image = [{'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,AA=='}}]
        self.refused('messages[0].content[0].type', messages=[{'role': 'user', 'content': image}])
        self.refused('messages[0].content', messages=[{'role': 'user', 'content': []}])

    def test_logprobs(self):
        choice = self.server.chat(logprobs=True, max_tokens=2)[1]['choices'][0]
        self.assertEqual(len(choice['logprobs']['content']), 2)
        self.assertTrue(all(token['top_logprobs'] == [] for token in choice['logprobs']['content']))
        whole = b''.join(bytes(token['bytes']) for token in choice['logprobs']['content'])
        self.assertEqual(whole.decode(), choice['message']['content'])
        tops = [self.server.chat(logprobs=True, top_logprobs=3, temperature=1, seed=1, max_tokens=1, top_p=top_p)[1]
                ['choices'][0]['logprobs']['content'][0]['top_logprobs'] for top_p in (0.5, 1.0)]
        self.assertEqual(len(tops[0]), 3)
        self.assertEqual(tops[0], tops[1])
        streamed = [token for event in self.server.stream(logprobs=True, max_tokens=2)
                    for token in event['choices'][0].get('logprobs', {}).get('content', [])]
        self.assertEqual(streamed, choice['logprobs']['content'])
        for fields in ({'top_logprobs': 3}, {'logprobs': True, 'top_logprobs': 21},
                       {'logprobs': True, 'top_logprobs': -1}, {'logprobs': True, 'top_logprobs': 'x'}):
            self.refused('top_logprobs', **fields)
        self.refused('logprobs', logprobs=2)

    def test_declared_parameters_pass_through(self):
        first = self.server.chat(logprobs=True, max_tokens=1)[1]['choices'][0]['logprobs']['content'][0]['token']
        ids = [str(i) for i in range(2000) if i % 2]  # whatever they are: banned
        status, _ = self.server.chat(logit_bias=dict.fromkeys(ids, -100), frequency_penalty=0.5, presence_penalty=0.5,
                                     top_p=0.9, top_k=5, min_p=0.01, seed=7, stop=['xyzzy'], user='me', metadata={})
        self.assertEqual(status, 200)
        self.assertTrue(first)
        for name in ('temperature', 'top_p', 'seed', 'frequency_penalty', 'logit_bias', 'top_k', 'stop'):
            self.refused(name, **{name: {'no': 'number'} if name != 'logit_bias' else 'text'})
            self.assertEqual(self.server.chat(**{name: None})[0], 200)

    def test_stop_string_is_left_out(self):
        text = self.server.chat(max_tokens=16)[1]['choices'][0]['message']['content']
        stop = text[4:9]
        answer = self.server.chat(max_tokens=16, stop=stop)[1]['choices'][0]
        self.assertEqual(answer['message']['content'], text[:text.index(stop)])
        self.assertEqual(answer['finish_reason'], 'stop')
        self.assertEqual(joined(self.server.stream(max_tokens=16, stop=[stop])), text[:text.index(stop)])

    def test_seed_repeats(self):
        texts = [self.server.chat(seed=42, temperature=0.9, max_tokens=16)[1]['choices'] for _ in range(2)]
        self.assertEqual(texts[0], texts[1])

    def test_what_is_not_supported_is_refused(self):
        tool = {'type': 'function', 'function': {'name': 'add', 'parameters': {}}}
        for param, value in (('n', 2), ('n', 'x'), ('tools', [tool]), ('tools', {}), ('tool_choice', 'required'),
                             ('response_format', {'type': 'json_object'}), ('response_format', 'json')):
            self.refused(param, **{param: value})
        status, _ = self.server.chat(n=1, tools=[], tool_choice='none', response_format={'type': 'text'})
        self.assertEqual(status, 200)

    def test_wrong_model(self):
        error = self.refused('model', status=404, code='model_not_found', model='no-such-model')
        served = json.loads(self.server.ask('GET', '/v1/models')[2])['data'][0]['id']
        self.assertIn('no-such-model', error['message'])
        self.assertIn(served, error['message'])
        self.assertEqual(self.server.chat(model=served)[0], 200)
        self.assertEqual(self.server.ask('GET', f'/v1/models/{served}')[0], 200)
        self.assertEqual(self.server.ask('GET', '/v1/models/no-such-model')[0], 404)

    def test_context_overflow_names_both_counts(self):
        long = [{'role': 'user', 'content': 'word ' * 9000}]
        for stream in (False, True):
            error = self.refused('messages', code='context_length_exceeded', messages=long, stream=stream)
            self.assertRegex(error['message'], r"^This model's maximum context length is 8192 tokens")
            self.assertEqual(error['n_ctx'], 8192)
            self.assertGreater(error['n_prompt_tokens'], 9000)


if __name__ == '__main__':
    unittest.main()
