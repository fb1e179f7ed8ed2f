"""Every setting of legalqa, grouped, with unit and default.

The environment is read here alone, through `env.py`; `.env.example` lists each variable.
With `DATABASE_URL` and `REDIS_URL` unset the embedded services of `embedded.py` are used.
"""

from __future__ import annotations

import sys
from pathlib import Path

from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from documents import chain
from legalqa import env, mail, origin, services

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = env.path("LEGALQA_VAR_DIR", default=BASE_DIR / "var")

# --- Django ------------------------------------------------------------------------------

DEBUG = env.boolean("DJANGO_DEBUG", default=False)
SECRET_KEY = services.secret_key(VAR_DIR)
ALLOWED_HOSTS = env.items("DJANGO_ALLOWED_HOSTS", default=("localhost", "127.0.0.1", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.items("DJANGO_CSRF_TRUSTED_ORIGINS", default=())
ROOT_URLCONF = "legalqa.urls"
ASGI_APPLICATION = "legalqa.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hant", "繁體中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
# The zone whose calendar date is "today": a policy starts and ends at its midnights.
OFFICE_TIME_ZONE = env.text("LEGALQA_TIME_ZONE", default="UTC")

INSTALLED_APPS = [
    "legalqa.apps.LegalqaAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "legalqa.apps.LegalqaConfig",
    "documents.apps.DocumentsConfig",
    "qa.apps.QAConfig",
    "evaluation.apps.EvaluationConfig",
]

MIDDLEWARE = [
    "legalqa.middleware.OriginMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "legalqa.middleware.PrivateResponseMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
            ],
        },
    },
]

# The first ends it where too much was tried; nobody signs in by it.
AUTHENTICATION_BACKENDS = [
    "qa.guessing.GuessingBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "ask"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- Database ----------------------------------------------------------------------------

_ADDRESSES = services.addresses()
# Migrations run as the owner; everything else, tests included, as the app (ADR 0004).
_AS_OWNER = sys.argv[1:2] in (["migrate"], ["sqlmigrate"]) or env.boolean(
    "LEGALQA_AS_OWNER", default=False
)
_OPTIONS: dict[str, object] = {"connect_timeout": 5}
DATABASES = {
    "default": {
        **env.database(_ADDRESSES.database_owner_url if _AS_OWNER else _ADDRESSES.database_url),
        "ENGINE": "django.db.backends.postgresql",
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": _OPTIONS,
    }
}
DATABASE_OWNER_USER = env.database(_ADDRESSES.database_owner_url)["USER"]
DATABASE_OWNER_PASSWORD = env.database(_ADDRESSES.database_owner_url)["PASSWORD"]
READER_ROLE = "legalqa_reader"
# A pool belongs to the web process alone: one opened before a worker forks would be shared.
WEB_POOL_SIZE = env.number("LEGALQA_WEB_POOL_SIZE", default=8)
if env.text("LEGALQA_PROCESS", default="") == "web":
    _OPTIONS["pool"] = {
        "min_size": 1,
        "max_size": WEB_POOL_SIZE,
        "timeout": 10,
    }

# --- Cache: counts requests against their limits, and holds nothing that anybody wrote -----

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": services.cache_url(_ADDRESSES.redis_url),
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    },
    "local": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "local"},
}

# --- Audit trail ---------------------------------------------------------------------------

# The first signs; the others verify what was signed before a change of key.
AUDIT_KEYS = [
    chain.derived_key(secret)
    for secret in (
        *filter(None, [env.text("LEGALQA_AUDIT_KEY", default="")]),
        SECRET_KEY,
        *env.items("LEGALQA_AUDIT_OLD_KEYS", default=()),
    )
]
AUDIT_SEAL_SECONDS = env.number("LEGALQA_AUDIT_SEAL_SECONDS", default=5)
# One line a day; keep copies where whoever may write to the database may not.
AUDIT_ANCHORS_FILE = env.path("LEGALQA_AUDIT_ANCHORS_FILE", default=VAR_DIR / "audit-anchors.jsonl")
# Networks of reverse proxies whose X-Forwarded-For is believed.
TRUSTED_PROXIES = origin.networks(env.items("LEGALQA_TRUSTED_PROXIES", default=()))

# --- Celery ------------------------------------------------------------------------------

CELERY_BROKER_URL = _ADDRESSES.redis_url
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for as long as it is away, a worker waits for it
CELERY_TASK_TIME_LIMIT = env.number("LEGALQA_TASK_TIME_LIMIT_SECONDS", default=600)
CELERY_TASK_SOFT_TIME_LIMIT = max(1, CELERY_TASK_TIME_LIMIT - 30)
# No task may run so long that its message is handed out again. Redis takes the shortest of
# what the three name.
CELERY_VISIBILITY_TIMEOUT = CELERY_TASK_TIME_LIMIT + 300
CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = {"visibility_timeout": CELERY_VISIBILITY_TIMEOUT}
# An enqueue waits at most a few seconds for a broker that is down; the sweeper does the rest.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": CELERY_VISIBILITY_TIMEOUT,
    "socket_connect_timeout": 2,
    "socket_timeout": 5,
}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_max": 0.5}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
CELERY_TIMEZONE = OFFICE_TIME_ZONE
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
# Upkeep has a queue of its own: a worker takes from both in turn, so that a sweep does not wait
# behind a thousand uploads.
CELERY_TASK_QUEUES = [Queue("celery", routing_key="celery"), Queue("upkeep", routing_key="upkeep")]
_UPKEEP = (
    "sweep",
    "sweep_files",
    "compact_term_statistics",
    "count_versions_that_begin",
    "seal_audit",
    "anchor_audit",
)
CELERY_TASK_ROUTES = {f"documents.tasks.{name}": {"queue": "upkeep"} for name in _UPKEEP}
# How long a version may rest in a moving state before the sweeper queues it again. Together
# with the sweeper's period it is the longest that work rests after a worker died.
SWEEP_AFTER_SECONDS = env.number("LEGALQA_SWEEP_AFTER_SECONDS", default=60)
MAX_INGEST_ATTEMPTS = env.number("LEGALQA_MAX_INGEST_ATTEMPTS", default=3)
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "documents.tasks.sweep",
        "schedule": 30.0,
        "options": {"expires": 30},  # after a pause one sweep is enough
    },
    "sweep-files": {"task": "documents.tasks.sweep_files", "schedule": crontab(hour=3, minute=40)},
    "compact-term-statistics": {
        "task": "documents.tasks.compact_term_statistics",
        "schedule": 300.0,
    },
    "count-versions-that-begin": {
        "task": "documents.tasks.count_versions_that_begin",
        "schedule": crontab(minute="*/10"),
    },
    "write-reminders": {
        "task": "documents.tasks.write_reminders",
        "schedule": crontab(hour=6, minute=30),
    },
    "send-reminders": {
        "task": "documents.tasks.send_reminders",
        "schedule": crontab(minute=35),  # every hour: mail may be down at the first try
        "options": {"expires": 3000},
    },
    "seal-audit": {
        "task": "documents.tasks.seal_audit",
        "schedule": float(AUDIT_SEAL_SECONDS),
        "options": {"expires": 60},  # those that a busy worker let wait are one
    },
    "anchor-audit": {
        "task": "documents.tasks.anchor_audit",
        "schedule": crontab(minute="7"),  # every hour: a machine may be off at midnight
    },
}

# --- Files -------------------------------------------------------------------------------

FILES_DIR = env.path("LEGALQA_FILES_DIR", default=VAR_DIR / "files")
# Images of pages, drawn when they are asked for; what was not asked for longest goes first.
PAGE_IMAGES_DIR = env.path("LEGALQA_PAGE_IMAGES_DIR", default=VAR_DIR / "page-images")
PAGE_IMAGES_MB = env.number("LEGALQA_PAGE_IMAGES_MB", default=200)
MAX_UPLOAD_BYTES = env.number("LEGALQA_MAX_UPLOAD_BYTES", default=50 * 1024 * 1024)
# What one bulk upload may hold: all its files unpacked, and their number in one archive.
MAX_BATCH_BYTES = env.number("LEGALQA_MAX_BATCH_BYTES", default=512 * 1024 * 1024)
MAX_BATCH_FILES = env.number("LEGALQA_MAX_BATCH_FILES", default=5_000)
# What a child process may use to read one file; the memory is beyond the interpreter's own.
PARSE_CPU_SECONDS = env.number("LEGALQA_PARSE_CPU_SECONDS", default=60)
PARSE_MEMORY_MB = env.number("LEGALQA_PARSE_MEMORY_MB", default=1024)
PARSE_OUTPUT_MB = env.number("LEGALQA_PARSE_OUTPUT_MB", default=256)
OCR_MAX_PAGES = env.number("LEGALQA_OCR_MAX_PAGES", default=200)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_UPLOAD_BYTES + 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
SHARED_DATA = env.path("LEGALQA_SHARED_DATA", default=BASE_DIR.parent / "shared" / "data")
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- Policies: labels, approval, screening -----------------------------------------------

# Empty: off, so that only grants give anything to read.
EVERYONE_LABEL = env.text("LEGALQA_EVERYONE_LABEL", default="all-staff", keep_empty=True)
APPROVAL = env.choice("LEGALQA_APPROVAL", ("none", "any", "four-eyes"), default="any")
SCREENING = env.boolean("LEGALQA_SCREENING", default=True)
# How many days before its review-by date the owner of a policy is reminded of it; 0: on the day.
REVIEW_REMINDER_DAYS = env.number("LEGALQA_REVIEW_REMINDER_DAYS", default=30)
HOLD_VERSION_ON_FINDING = env.boolean("LEGALQA_HOLD_VERSION_ON_FINDING", default=False)

# --- Embedding and retrieval -------------------------------------------------------------

EMBEDDING_MODEL = env.text("LEGALQA_EMBEDDING_MODEL", default="") or None  # None: the bundled one
EMBEDDING_MODEL_SHA256 = env.text("LEGALQA_EMBEDDING_MODEL_SHA256", default="") or None
EMBEDDING_BACKEND = env.choice(
    "LEGALQA_EMBEDDING_BACKEND", ("auto", "torch", "onnx"), default="auto"
)
MODEL_CACHE_DIR = env.path("LEGALQA_MODEL_CACHE_DIR", default=VAR_DIR / "models")
EMBED_BATCH_CHUNKS = env.number("LEGALQA_EMBED_BATCH_CHUNKS", default=64)
# Up to this many readable chunks both legs are exact; above, HNSW and GIN (DESIGN §7).
RETRIEVAL_EXACT_MAX_CHUNKS = env.number("LEGALQA_RETRIEVAL_EXACT_MAX_CHUNKS", default=25_000)
RETRIEVAL_DEPTH = env.number("LEGALQA_RETRIEVAL_DEPTH", default=100)

# --- Answering ---------------------------------------------------------------------------

ANTHROPIC_API_KEY = env.text("ANTHROPIC_API_KEY", default="")  # empty: the extractive answerer
ANTHROPIC_BASE_URL = env.text("ANTHROPIC_BASE_URL", default="") or None
CLAUDE_MODEL = env.text("LEGALQA_MODEL", default="claude-opus-5-5")
CLAUDE_EFFORT = env.choice("LEGALQA_EFFORT", ("low", "medium", "high"), default="low")
CLAUDE_MAX_TOKENS = env.number("LEGALQA_MAX_TOKENS", default=2000)
CLAUDE_CONNECT_TIMEOUT_SECONDS = env.number("LEGALQA_CLAUDE_CONNECT_TIMEOUT_SECONDS", default=5)
CLAUDE_READ_TIMEOUT_SECONDS = env.number("LEGALQA_CLAUDE_READ_TIMEOUT_SECONDS", default=20)
CLAUDE_DEADLINE_SECONDS = env.number("LEGALQA_CLAUDE_DEADLINE_SECONDS", default=30)
CLAUDE_MAX_ATTEMPTS = env.number("LEGALQA_CLAUDE_MAX_ATTEMPTS", default=2)
CONTEXT_TOKENS = env.number("LEGALQA_CONTEXT_TOKENS", default=1300)
ON_FAILED_CLAIM = env.choice("LEGALQA_ON_FAILED_CLAIM", ("retract", "withhold"), default="retract")
GATE_THRESHOLD = env.real("LEGALQA_GATE_THRESHOLD", default=0.12)  # a probability, 0 to 1
NOTICE = env.text(
    "LEGALQA_NOTICE", default="Information from your organisation's policies, not legal advice."
)
STREAM_HEARTBEAT_SECONDS = env.number("LEGALQA_STREAM_HEARTBEAT_SECONDS", default=10)
STREAM_SECONDS = env.number("LEGALQA_STREAM_SECONDS", default=120)  # the longest life of one
STREAMS_PER_USER = env.number("LEGALQA_STREAMS_PER_USER", default=2)  # open at once
STREAMS = env.number("LEGALQA_STREAMS", default=50)  # open at once, of all together

# --- API ---------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "qa.api.authentication.ApiKeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "rest_framework.parsers.JSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "qa.api.problems.exception_handler",
    "DEFAULT_THROTTLE_RATES": {"ask": env.text("LEGALQA_ASK_RATE", default="60/min")},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "legalqa",
    "DESCRIPTION": "Cited answers from your organisation's own policies, and from nothing else.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
}

# --- Security ----------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}
_BEHIND_TLS = env.boolean("LEGALQA_BEHIND_TLS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _BEHIND_TLS
SECURE_SSL_REDIRECT = _BEHIND_TLS
SECURE_HSTS_SECONDS = 31_536_000 if _BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _BEHIND_TLS
if _BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 24 * 3600
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

if _BEHIND_TLS and "*" in ALLOWED_HOSTS:
    raise ImproperlyConfigured(
        "DJANGO_ALLOWED_HOSTS may not be * in production: name the host that readers type."
    )

# --- Logging: ids and codes, never questions, policy text or keys ------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env.text("LEGALQA_LOG_LEVEL", default="WARNING")},
}

# --- Mail: reminders of reviews ----------------------------------------------------------

globals().update(mail.settings_of(env.text("LEGALQA_MAIL_URL", default="")))
DEFAULT_FROM_EMAIL = env.text("LEGALQA_MAIL_FROM", default="legalqa@localhost")
