"""Settings of the service: file, environment and command line, the last one counts; and `podium serve` around them."""

import socket
import sys

import pytest
from typer.testing import CliRunner

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.cli.main import app
from podium.service.settings import Settings


def test_the_environment_overrides_the_file_and_the_command_line_both(tmp_path):
    file = tmp_path / "serve.toml"
    file.write_text('port = 1\nworkers = 3\nrate = 5\nmodels = ["a.podium"]\n')
    made = Settings.read(
        str(file), environment={"PODIUM_SERVE_PORT": "2", "PODIUM_SERVE_WORKERS": "4"}, given={"port": 9}
    )
    assert (made.port, made.workers, made.rate, made.models) == (9, 4, 5.0, ("a.podium",))


def test_settings_survive_the_way_to_a_worker_and_into_a_file(tmp_path):
    made = Settings(
        models=("a.podium", "b.podium"), aliases=("default=b@1",), rate=2.5, log_requests=True, keys='k"e\\y'
    )
    assert Settings.read(environment=made.environment()) == made
    (tmp_path / "all.toml").write_text("\n".join(made.lines()))
    assert Settings.read(str(tmp_path / "all.toml"), environment={}) == made


@pytest.mark.parametrize(
    ("text", "error"),
    [("prot = 1", UnknownNameError), ('port = "x"', DataError), ("models = [1]", DataError), ("port = ", DataError)],
)
def test_a_wrong_file_is_told_what_is_wrong(tmp_path, text, error):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(error):
        Settings.read(str(tmp_path / "x.toml"), environment={})


def test_wrong_values_are_refused():
    for given in ({"workers": 0}, {"port": 70_000}, {"models": ("a,b",)}):
        with pytest.raises(ParameterError):
            Settings(**given)
    with pytest.raises(DataError, match="PODIUM_SERVE_PORT"):
        Settings.read(environment={"PODIUM_SERVE_PORT": "x"})


def test_the_command_shows_what_it_would_use(models):
    done = CliRunner().invoke(app, ["serve", str(models / "web.podium"), "--port", "9", "--show-settings"])
    assert done.exit_code == 0
    assert "port = 9" in done.stdout.splitlines()
    assert f'models = ["{models / "web.podium"}"]' in done.stdout


def test_the_command_says_what_it_misses(tmp_path):
    for words, message in (([], "nothing to serve"), ([str(tmp_path / "no.podium")], "no such file")):
        done = CliRunner().invoke(app, ["serve", *words])
        assert done.exit_code in (1, 2)
        assert message in done.stderr


def test_without_the_extra_it_says_what_to_install(models, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["serve", str(models / "web.podium")])
    assert done.exit_code == 1
    assert "pip install 'podium[serve]'" in done.stderr


def test_a_port_that_is_taken_is_said_before_models_are_loaded(models):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(app, ["serve", str(models / "web.podium"), "--port", str(port)])
    assert done.exit_code != 0
    assert f"127.0.0.1:{port} cannot be listened on" in f"{done.output}{done.exception}"


def test_what_kubernetes_tells_of_a_service_called_podium_serve_is_no_setting():
    told = {
        "PODIUM_SERVE_PORT": "tcp://10.0.0.7:8080", "PODIUM_SERVE_SERVICE_HOST": "10.0.0.7",
        "PODIUM_SERVE_SERVICE_PORT": "8080", "PODIUM_SERVE_SERVICE_PORT_HTTP": "8080",
        "PODIUM_SERVE_PORT_8080_TCP": "tcp://10.0.0.7:8080", "PODIUM_SERVE_PORT_8080_TCP_ADDR": "10.0.0.7",
    }  # fmt: skip
    assert Settings.read(environment=told) == Settings()
    assert Settings.read(environment={"PODIUM_SERVE_PORT": "9000"}).port == 9000
