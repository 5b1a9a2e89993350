"""What uvicorn serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("PLACET_PROCESS", "web")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "runtime.settings")

application = get_asgi_application()
