"""The settings, flat, from the environment alone. docs: bin/up writes every variable for the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from runtime.environment import from_process

BASE_DIR = Path(__file__).resolve().parent.parent
_env, PLACET_HOME = from_process(BASE_DIR)

# What kind of process this is

PLACET_ENV = _env.choice("PLACET_ENV", "demo", "production")
PLACET_PROCESS = _env.choice("PLACET_PROCESS", "web", "runs", "sweep", "migrate", "command", default="command")
PRODUCTION = PLACET_ENV == "production"
DEBUG = False

# Secrets and the seam

SECRET_KEY = _env.text("PLACET_SECRET_KEY")
PLACET_KEYS = _env.keys("PLACET_KEYS")
# Zero means the highest. Another one is named while a new key is brought to all hosts, see docs/keys.md.
PLACET_KEY_IN_USE = _env.number("PLACET_KEY_IN_USE", 0, low=0, high=65535)
PLACET_ANCHORS = Path(_env.text("PLACET_ANCHORS", str(PLACET_HOME / "anchors.jsonl")))
PLACET_RESOLVED = "runtime.resolutions.resolved"
PLACET_TOOL_APPROVED = "runtime.definitions.approved.put"
PLACET_PREVIEW = "runtime.previews.wanted"
PLACET_AGENT_OF = "runtime.credentials.agent_of"
PLACET_AGENT_NAMED = "runtime.definitions.agents.agent_named"
# Python code that rows may name: tools and graphs exist only if one of these modules registers them.
PLACET_MODULES = _env.words(
    "PLACET_MODULES", "" if PRODUCTION else "runtime.demo.tickets,runtime.demo.mail,runtime.demo.desk"
)
# How many runs one agent may start in a minute: people who are asked have to keep up.
PLACET_RUNS_PER_MINUTE = _env.number("PLACET_RUNS_PER_MINUTE", 300, low=1, high=1_000_000)
PLACET_ALLOW_ADDRESSES = _env.addresses("PLACET_ALLOW_ADDRESSES")
ALLOWED_HOSTS = _env.words("PLACET_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1]")

# The database: three roles, one for each kind of work

_URL_OF = {"migrate": "DATABASE_OWNER_URL", "sweep": "DATABASE_SWEEP_URL"}
_postgres = _env.postgres(_URL_OF.get(PLACET_PROCESS, "DATABASE_URL"))
PLACET_ROLES = {
    "application": str(_env.postgres("DATABASE_URL")["USER"]),
    "sweep": str(_env.postgres("DATABASE_SWEEP_URL")["USER"]),
}
_options: dict[str, Any] = {"connect_timeout": "5", "application_name": f"placet {PLACET_PROCESS}"} | dict(
    _postgres.pop("OPTIONS")
)
# What is prepared (approvals/rows/wire.py) asks by key: planning it anew for each value takes longer than the answer.
# Django turns preparing off altogether, unless it is told how often a statement is sent before it is prepared.
_options["prepare_threshold"] = 5
_options["options"] = f"{_options.get('options', '')} -c plan_cache_mode=force_generic_plan".strip()
if PLACET_PROCESS == "web":
    _options["pool"] = {"min_size": 1, "max_size": _env.number("PLACET_POOL", 8, low=1, high=200), "timeout": 5}
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        **_postgres,
        "OPTIONS": _options,
        # Django refuses a pool together with connections that live on; elsewhere a connection serves many tasks.
        "CONN_MAX_AGE": 0 if PLACET_PROCESS == "web" else None,
        "CONN_HEALTH_CHECKS": True,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The broker: messages are hints, rows are the queue

REDIS_URL = _env.redis("REDIS_URL")
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 5, "max_retries": 0}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_DEFAULT_QUEUE = "runs"
CELERY_TASK_CREATE_MISSING_QUEUES = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_DB_REUSE_MAX = 10_000

# The application

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_structlog",
    "guardian",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "approvals",
    "runtime",
]
MIDDLEWARE = [
    "approvals.pages.door.outside",
    "runtime.api.shape.one_shape",
    "django.middleware.security.SecurityMiddleware",
    "runtime.compressed.compressed",
    "runtime.static_files.StaticFiles",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "approvals.pages.clock.reader_zone",
    "approvals.pages.door.legible",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "approvals.signin.lasting.lasting",
    "runtime.logs.RequestLog",
    "runtime.outages.Outages",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "runtime.urls"
ASGI_APPLICATION = "runtime.asgi.application"
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
                "approvals.pages.frame.frame",
            ],
            "builtins": ["approvals.pages.tags"],
        },
    }
]
LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
STATIC_ROOT = PLACET_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = not PRODUCTION
FORM_RENDERER = "django.forms.renderers.DjangoTemplates"
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000  # the form of an edit sends up to four for each argument

# People: signed in by e-mail and password, by passkey or by an identity provider; nobody signs up

PLACET_URL = _env.site(
    "PLACET_URL",
    f"https://{ALLOWED_HOSTS[0]}" if PRODUCTION and ALLOWED_HOSTS else f"http://localhost:{_env.text('PORT', '8000')}",
)
PLACET_OIDC = _env.providers("PLACET_OIDC")

AUTH_USER_MODEL = "approvals.Person"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
ANONYMOUS_USER_NAME = None
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "approvals.signin.adapter.Adapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
ACCOUNT_RATE_LIMITS = {"join": "20/m/ip", "oidc": "30/m/ip", "invite": "20/m/user"}  # beside those that allauth sets
# How fresh a sign-in is, approvals/assurance.py alone says.
ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
MFA_ADAPTER = "approvals.signin.factors.FactorAdapter"
MFA_FORMS = {"reauthenticate": "approvals.signin.views.ConfirmForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_TOTP_ISSUER = "Placet"
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODE_DIGITS = 10
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # addresses are verified by the invitation; allauth's own table of them is not used
# How many proxies of our own stand before the web processes: the address that limits go by is the one they saw.
ALLAUTH_TRUSTED_PROXY_COUNT = _env.number("PLACET_PROXIES", 1 if PRODUCTION else 0, low=0, high=9)
# What limits are counted in. In the database, as all that must not be lost: a broker that is away, or was emptied,
# neither shuts the door nor forgets who has tried too often.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "placet_cache",
        "OPTIONS": {"MAX_ENTRIES": 200_000},
    }
}
SESSION_ENGINE = "approvals.sessions"

# Mail about accounts

_mail = _env.mail("PLACET_MAIL_URL")
PLACET_MAIL = bool(_mail)
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if PLACET_MAIL else 'dummy'}.EmailBackend"
EMAIL_HOST = str(_mail.get("HOST", ""))
EMAIL_PORT = int(str(_mail.get("PORT", 25)))
EMAIL_HOST_USER = str(_mail.get("HOST_USER", ""))
EMAIL_HOST_PASSWORD = str(_mail.get("HOST_PASSWORD", ""))
EMAIL_USE_TLS = bool(_mail.get("USE_TLS"))
EMAIL_USE_SSL = bool(_mail.get("USE_SSL"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = _env.text("PLACET_MAIL_FROM", "Placet <placet@localhost>")

# What a browser is told

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
# Not "no-referrer": a browser then sends "Origin: null" with our own forms, which the check against forgery refuses.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
if PRODUCTION:
    CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS if not host.startswith(".")]
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME = "__Host-session"
    CSRF_COOKIE_NAME = "__Host-csrf"
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }

# Logs: one line per event, no bodies, no query strings, no secrets

LOGGING_CONFIG = "runtime.logs.configure"
LOGGING = {
    "level": _env.choice("PLACET_LOG_LEVEL", "DEBUG", "INFO", "WARNING", "ERROR", default="INFO"),
    "json": PRODUCTION,
}
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = 10
DJANGO_STRUCTLOG_USER_ID_FIELD = ""
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
DJANGO_STRUCTLOG_CELERY_ENABLED = False
