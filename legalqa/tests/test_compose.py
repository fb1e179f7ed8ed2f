"""The production files agree with the code: variables, commands, ports, paths and roles.

Containers cannot be started here, so each statement of the Dockerfile, docker-compose.yml,
.env.example and the proxy's sample is compared with what the code reads and runs.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from legalqa import env, probe, processes
from legalqa.supervision import postgres, redis
from legalqa.supervision.layout import ROOT, Layout, Sockets

READERS = r"env\.(?:text|number|real|boolean|items|choice|path)\(\s*\"([A-Z][A-Z_0-9]+)\""
OTHER_READERS = (
    r"environ(?:\.get\(|\[)\s*\"([A-Z][A-Z_0-9]+)\"",
    r"VARIABLE = \"([A-Z][A-Z_0-9]+)\"",
    r"\\getenv \w+ ([A-Z_]+)",
)
# Read by the programs of the images, not by our code.
OF_IMAGES = {"POSTGRES_PASSWORD", "POSTGRES_INITDB_ARGS", "REDISCLI_AUTH", "REDIS_PASSWORD"}
# Variables that are not legalqa's: the system's and Django's own.
OF_SYSTEM = {"XDG_RUNTIME_DIR", "DJANGO_SETTINGS_MODULE", "PATH"}
# Make sense on one machine alone, or are set by the image itself.
NOT_IN_COMPOSE = {
    "DATABASE_OWNER_URL",
    "DJANGO_DEBUG",
    "LEGALQA_AS_OWNER",
    "LEGALQA_BACKUP_PASSWORD",
    "LEGALQA_APP_PASSWORD",
    "LEGALQA_AUDIT_ANCHORS_FILE",
    "LEGALQA_EMBEDDED_GRACE_SECONDS",
    "LEGALQA_FILES_DIR",
    "LEGALQA_HOST",
    "LEGALQA_MODEL_CACHE_DIR",
    "LEGALQA_OWNER_PASSWORD",
    "LEGALQA_PAGE_IMAGES_DIR",
    "LEGALQA_PROCESS",
    "LEGALQA_SHARED_DATA",
    "LEGALQA_VAR_DIR",
    "LEGALQA_WORKERS",
    "PORT",
}
APP_SERVICES = ("web", "worker", "beat", "migrate")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


COMPOSE: dict[str, Any] = yaml.safe_load(text("docker-compose.yml"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def variables_read_by_code() -> set[str]:
    """Every environment variable that the project package reads."""
    found: set[str] = set()
    for path in [*(ROOT / "legalqa").rglob("*.py"), ROOT / "manage.py", postgres.BOOTSTRAP]:
        if "tests" not in path.parts:
            for pattern in (READERS, *OTHER_READERS):
                found |= set(re.findall(pattern, path.read_text(encoding="utf-8")))
    return found - OF_SYSTEM


def interpolated(value: object) -> set[str]:
    return set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", str(value)))


def in_example() -> set[str]:
    return set(re.findall(r"^#?([A-Z][A-Z_0-9]+)=", text(".env.example"), re.MULTILINE))


def dockerfile(instruction: str) -> list[str]:
    joined = text("Dockerfile").replace("\\\n", " ")
    return re.findall(rf"^{instruction} (.*)$", joined, re.MULTILINE)


def test_example_lists_exactly_the_variables_that_are_read() -> None:
    assert in_example() - OF_IMAGES == variables_read_by_code()


def test_example_holds_no_secret() -> None:
    secrets = re.findall(r"^(\w*(?:KEY|PASSWORD))=(.*)$", text(".env.example"), re.MULTILINE)
    assert len(secrets) >= 6
    assert [value for _, value in secrets] == [""] * len(secrets)


def test_compose_passes_on_every_variable_that_a_container_can_use() -> None:
    assert set(SERVICES["web"]["environment"]) == variables_read_by_code() - NOT_IN_COMPOSE


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_variables_of_each_service_are_read_by_somebody(service: str) -> None:
    known = variables_read_by_code() | OF_IMAGES
    assert set(SERVICES[service]["environment"]) <= known


def test_interpolated_variables_are_in_the_example() -> None:
    assert interpolated(COMPOSE) - {"PIP_ARGS"} <= in_example()


def test_secrets_are_required_and_never_written_out() -> None:
    for name, service in SERVICES.items():
        for variable, value in service["environment"].items():
            if re.search("PASSWORD|SECRET|AUTH", variable):
                assert re.fullmatch(r"\$\{[A-Z_]+:\?[^}]+\}", value), (name, variable)
            if variable.endswith("_URL") and value:
                assert re.search(r":\$\{[A-Z_]+:\?[^}]+\}@", value), (name, variable)


def test_only_migrate_knows_the_owner() -> None:
    assert [name for name in APP_SERVICES if "OWNER" in str(SERVICES[name])] == ["migrate"]


@pytest.mark.parametrize(
    ("variable", "service", "role"),
    [
        ("DATABASE_URL", "web", "legalqa_app"),
        ("DATABASE_OWNER_URL", "migrate", "legalqa_owner"),
    ],
)
def test_database_addresses_name_the_role_the_service_and_its_port(
    variable: str, service: str, role: str
) -> None:
    url = re.sub(r"\$\{[^}]*\}", "secret", SERVICES[service]["environment"][variable])
    found = env.database(url)
    assert found["USER"] == role
    assert found["HOST"] in SERVICES
    assert found["PORT"] == "5432"
    assert f"'{role}', 'login" in postgres.BOOTSTRAP.read_text()
    assert f"create database {found['NAME']} " in postgres.BOOTSTRAP.read_text()


def test_bootstrap_is_mounted_with_the_passwords_it_asks_for() -> None:
    source, target, mode = SERVICES["postgres"]["volumes"][1].split(":")
    assert (ROOT / source).resolve() == postgres.BOOTSTRAP
    assert target.startswith("/docker-entrypoint-initdb.d/")
    assert mode == "ro"
    asked = set(re.findall(r"\\getenv \w+ ([A-Z_]+)", postgres.BOOTSTRAP.read_text()))
    assert len(asked) == 3
    assert asked <= set(SERVICES["postgres"]["environment"])


def test_commands_are_those_that_run_on_one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGALQA_HOST", "0.0.0.0")  # noqa: S104 - compared, not bound to
    monkeypatch.setenv("LEGALQA_WORKERS", "2")
    expected = {
        "web": processes.web_command(probe.DEFAULT_PORT),
        "worker": processes.worker_command(),
        "beat": processes.beat_command(),
    }
    for name, command in expected.items():
        assert SERVICES[name]["command"] == ["python", *command[1:]]
    assert dockerfile("CMD")[-1] == str(SERVICES["web"]["command"]).replace("'", '"')


def test_modules_of_the_commands_exist() -> None:
    assert re.search(r"^application = ", text("legalqa/asgi.py"), re.MULTILINE)
    assert re.search(r"^app = Celery\(", text("legalqa/celery.py"), re.MULTILINE)
    assert SERVICES["migrate"]["command"][1:3] == ["manage.py", "migrate"]
    for command in re.findall(r"manage\.py (\w+)", text("Dockerfile")):
        assert list(ROOT.glob(f"*/management/commands/{command}.py")), command


@pytest.mark.parametrize("service", sorted(set(SERVICES) - {"migrate"}))
def test_each_lasting_service_has_a_health_check(service: str) -> None:
    test = SERVICES[service]["healthcheck"]["test"]
    if "legalqa.probe" in test:
        assert f'case ["{test[-1]}"]:' in text("legalqa/probe.py")
    if service == "worker":
        assert "celery -A legalqa inspect ping" in test[1]


def test_one_port_everywhere() -> None:
    port = str(probe.DEFAULT_PORT)
    assert SERVICES["web"]["ports"] == [f"127.0.0.1:${{PORT:-{port}}}:{port}"]
    assert dockerfile("EXPOSE") == [port]
    assert f"proxy_pass http://127.0.0.1:{port};" in text("deploy/nginx.conf")


def test_only_web_is_published() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]


@pytest.mark.parametrize("service", APP_SERVICES)
def test_application_containers_have_no_rights_to_spare(service: str) -> None:
    found = SERVICES[service]
    assert found["read_only"] is True
    assert found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]


def test_image_does_not_run_as_root() -> None:
    assert dockerfile("USER") == ["legalqa"]
    assert "useradd --uid 10001" in text("Dockerfile")


def test_image_copies_what_is_there_and_every_package() -> None:
    sources = [
        source
        for line in dockerfile("COPY")
        if not line.startswith("--from")
        for source in shlex.split(line)[:-1]
    ]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    ignored = set(text(".dockerignore").split())
    assert not ignored & set(sources)
    assert {"legalqa", "documents", "qa", "evaluation", "templates", "manage.py"} <= set(sources)


def test_volumes_cover_what_the_image_writes() -> None:
    (image_var,) = re.findall(r"LEGALQA_VAR_DIR=(\S+)", text("Dockerfile"))
    assert [f"files:{image_var}"] == SERVICES["web"]["volumes"] == SERVICES["worker"]["volumes"]
    used = {str(v).split(":")[0] for s in SERVICES.values() for v in s.get("volumes", [])}
    assert set(COMPOSE["volumes"]) == {name for name in used if not name.startswith(".")}


def test_servers_are_set_up_as_the_embedded_ones() -> None:
    layout, sockets = Layout(Path("/x")), Sockets(Path("/y"))
    embedded = set(postgres.command(layout, sockets)[3:])
    sizes = ("shared_buffers", "maintenance_work_mem")
    for setting in SERVICES["postgres"]["command"][1:]:
        assert setting in embedded or setting.startswith(sizes), setting
    for option in ("--appendonly", "--maxmemory-policy"):
        ours, theirs = redis.command(layout, sockets), SERVICES["redis"]["command"]
        assert ours[ours.index(option) + 1] == theirs[theirs.index(option) + 1]
    assert SERVICES["postgres"]["environment"]["POSTGRES_INITDB_ARGS"].split() == [
        option for option in postgres.INITDB_OPTIONS if not option.startswith("--auth")
    ]


def test_proxy_allows_uploads_and_streams() -> None:
    settings = text("legalqa/settings.py")
    (megabytes,) = re.findall(
        r"LEGALQA_MAX_UPLOAD_BYTES\", default=(\d+) \* 1024 \* 1024", settings
    )
    nginx = text("deploy/nginx.conf")
    assert f"client_max_body_size {int(megabytes) + 1}m;" in nginx
    assert "proxy_buffering off;" in nginx
    assert "proxy_set_header X-Forwarded-Proto https;" in nginx
