# One image for web, worker, beat and migrate; docker-compose.yml says which runs what.

FROM python:3.11-slim-bookworm AS build
# Options for pip, such as an index with the CPU build of torch; see docs/how-to/install.md.
ARG PIP_ARGS=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY requirements.txt constraints.txt ./
RUN python -m venv /opt/venv \
    && /opt/venv/bin/python -m pip install -qq ${PIP_ARGS} -r requirements.txt -c constraints.txt

FROM python:3.11-slim-bookworm AS runtime
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    LEGALQA_VAR_DIR=/app/var \
    LEGALQA_MODEL_CACHE_DIR=/opt/models
# Reads scanned pages; further languages are further packages.
RUN apt-get update -q \
    && apt-get install -qy --no-install-recommends tesseract-ocr tesseract-ocr-chi-tra \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin legalqa \
    && mkdir -p /app/var /opt/models \
    && chown legalqa:legalqa /app/var /opt/models
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY manage.py ./
COPY legalqa legalqa
COPY documents documents
COPY qa qa
COPY evaluation evaluation
COPY templates templates
COPY static static
COPY demo demo
USER legalqa
# The model is written once here, so that no container needs torch to answer. Addresses and
# key are named only because settings ask for them: nothing is contacted, nothing is kept.
RUN DATABASE_URL=postgresql://build@build/build REDIS_URL=redis://build/0 \
    DJANGO_SECRET_KEY=only-for-this-step-of-the-image-build-0000000000 \
    python manage.py export_model
VOLUME /app/var
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-m", "legalqa.probe", "web"]
CMD ["python", "-m", "uvicorn", "legalqa.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-access-log", "--ws", "none", "--timeout-graceful-shutdown", "5", "--no-proxy-headers"]
