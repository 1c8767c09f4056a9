"""Machine judges: grades in answers, a file of answers that goes on, commands, chat models, keys that stay secret."""

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from podium.base.errors import DataError, MachineError, ParameterError
from podium.base.files import claimed
from podium.judgments import read_judgments
from podium.judgments.machine_connections import by_command, by_url
from podium.judgments.machine_judge import Machine, Question, answered, ask

MACHINE = Machine("toy")
QUESTIONS = [Question(f"q{k}", f"d{k}", f"query {k}", "word " * k) for k in range(6)]


def length_judge(messages):
    """A deterministic judge: the number of words, at most 3."""
    for number, message in enumerate(messages):
        yield number, {"grade": min(len(message["document"].split()), 3)}


@pytest.mark.parametrize(
    ("answer", "grade"),
    [("2", 2), (" 3\n", 3), ("Grade: 1.", 1), ('{"grade": 2, "why": "10 words"}', 2), ({"grade": 0}, 0), (2.0, 2),
     ("7", None), ("1 or 2", None), ("2.5", None), ("none", None), (None, None), (True, None), ({"score": 2}, None),
     ("-1", None), ("9" * 5000, None), (f"Grade: {'9' * 5000}", None), ("[" * 100_000, None), ("1e999", None),
     ('{"grade":' * 980 + "1" + "}" * 980, 1)],
)  # fmt: skip
def test_the_grade_of_an_answer_is_read_or_refused(answer, grade):
    assert MACHINE.grade(answer) == grade


def test_the_judges_name_holds_model_prompt_and_temperature():
    assert MACHINE.name.startswith("machine:toy/prompt-")
    others = {Machine("toy", temperature=0.5).name, Machine("other").name, Machine("toy", prompt="{{query}}").name}
    assert len(others | {MACHINE.name}) == 4
    assert "query 1" in MACHINE.text(QUESTIONS[1])


def test_texts_with_braces_are_not_filled_in():
    assert "{{document}}" in MACHINE.text(Question("q", "d", "{{document}}", "secret")).split("Document:")[0]


def test_a_killed_run_goes_on_and_gives_the_same_file(tmp_path):
    whole, killed = str(tmp_path / "whole.jsonl"), str(tmp_path / "killed.jsonl")
    assert ask(QUESTIONS, MACHINE, whole, length_judge)[:2] == (0, 6)

    def dies(messages):
        for number, answer in length_judge(messages):
            if number == 3:
                raise KeyboardInterrupt
            yield number, answer

    with pytest.raises(KeyboardInterrupt):
        ask(QUESTIONS, MACHINE, killed, dies)
    with open(killed, "ab") as file:
        file.write(b'{"query": "q3", "docu')  # cut off in the middle of a line
    asked = []

    def notes(messages):
        asked.extend(message["query"] for message in messages)
        yield from length_judge(messages)

    assert ask(QUESTIONS, MACHINE, killed, notes)[:2] == (3, 3)
    assert asked == ["query 3", "query 4", "query 5"]
    with open(whole) as first, open(killed) as second:
        assert first.read() == second.read()
    assert read_judgments(whole).judges == (MACHINE.name,)


def test_a_second_process_does_not_write_the_same_answers(tmp_path):
    path = str(tmp_path / "answers.jsonl")
    with ThreadPoolExecutor(1) as other:
        with claimed(path), pytest.raises(DataError, match="is writing here"):
            other.submit(ask, QUESTIONS, MACHINE, path, length_judge).result()
        assert other.submit(ask, QUESTIONS, MACHINE, path, length_judge).result()[:2] == (0, 6)


def test_another_prompt_asks_everything_again(tmp_path):
    path = str(tmp_path / "answers.jsonl")
    ask(QUESTIONS, MACHINE, path, length_judge)
    assert ask(QUESTIONS, Machine("toy", prompt="{{query}} {{document}}"), path, length_judge)[:2] == (0, 6)
    assert len(answered(path)) == 12


def test_what_has_no_grade_is_asked_again_and_then_named(tmp_path):
    rounds = []

    def shy(messages):
        rounds.append(len(messages))
        yield 0, "no idea"
        yield from ((number, "1") for number in range(1, len(messages)))

    before, now, left = ask(QUESTIONS, MACHINE, str(tmp_path / "a.jsonl"), shy, retries=2)
    assert (before, now, len(left)) == (0, 5, 1)
    assert rounds == [6, 1, 1]


@pytest.mark.parametrize("text", ["query,document\n", '{"hash": [1]}\n', '{"hash": null}\n', "[" * 100_000 + "\n"])
def test_a_file_of_something_else_is_not_appended_to(tmp_path, text):
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(DataError, match=r"sheet.csv:1: no answer of a machine judge"):
        ask(QUESTIONS, MACHINE, str(tmp_path / "sheet.csv"), length_judge)


JUDGE = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "grade": min(len(row["document"].split()), 3)}), flush=True)
"""


def test_a_command_reads_and_writes_json_lines(tmp_path):
    (tmp_path / "judge.py").write_text(JUDGE)
    one, other = str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")
    ask(QUESTIONS, MACHINE, one, by_command(f"{sys.executable} {tmp_path / 'judge.py'}"))
    ask(QUESTIONS, MACHINE, other, length_judge)
    assert read_judgments(one).grades.tolist() == read_judgments(other).grades.tolist()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-command-anywhere", "cannot be started"),
        ("false", "failed with exit code 1"),
        ("echo hello", "no JSON"),
        (f"echo {'[' * 100_000}", "no JSON"),
        ('echo \'{"id": [1], "grade": 1}\'', "no JSON object with id and grade"),
    ],
)
def test_a_command_that_fails_is_said(tmp_path, command, words):
    with pytest.raises(MachineError, match=words):
        ask(QUESTIONS, MACHINE, str(tmp_path / "a.jsonl"), by_command(command), retries=0)


class Chat(BaseHTTPRequestHandler):
    """A chat model that counts words, fails now and then, and notes what it is sent."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, self.headers.get("Authorization"), json.loads(body)))
        status = self.server.failures.pop() if self.server.failures else 200
        grade = min(
            len(self.server.seen[-1][2]["messages"][0]["content"].split("Document:")[1].split("\n")[0].split()), 3
        )
        answer = json.dumps({"choices": [{"message": {"content": f"Grade: {grade}"}}]}).encode()
        self.send_response(status)
        self.send_header("Location", "http://elsewhere.invalid/")
        self.end_headers()
        self.wfile.write(answer if status == 200 else b"{}")

    def log_message(self, *words):
        pass


@pytest.fixture
def chat():
    server = HTTPServer(("127.0.0.1", 0), Chat)
    server.seen, server.failures = [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_chat_model_is_asked_and_its_key_is_written_nowhere(tmp_path, chat):
    chat.failures = [503, 429]
    url = f"http://127.0.0.1:{chat.server_port}/v1/chat/completions"
    path = str(tmp_path / "a.jsonl")
    assert ask(QUESTIONS, MACHINE, path, by_url(url, key="hush-hush"))[1] == 6
    assert len(chat.seen) == 8  # two were asked again
    where, key, body = chat.seen[0]
    assert (where, key, body["model"], body["temperature"]) == ("/v1/chat/completions", "Bearer hush-hush", "toy", 0.0)
    with open(path) as file:
        assert "hush" not in file.read()


@pytest.mark.parametrize("status", [301, 401])
def test_redirects_are_not_followed_and_refusals_are_said(tmp_path, chat, status):
    chat.failures = [status]
    with pytest.raises(MachineError, match=f"127.0.0.1 answered {status}"):
        ask(QUESTIONS, MACHINE, str(tmp_path / "a.jsonl"), by_url(f"http://127.0.0.1:{chat.server_port}/"))
    assert len(chat.seen) == 1


def test_only_http_is_asked():
    with pytest.raises(ParameterError, match="http"):
        by_url("file:///etc/passwd")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name needs POSIX")
def test_a_pipe_is_no_file_to_go_on_with(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is no file, to which answers are appended"):
        ask(QUESTIONS, MACHINE, str(tmp_path / "pipe"), length_judge)
