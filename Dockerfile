# The image of Postern, for amd64 and arm64: Node on a distroless base, and below /app what scripts/build-image-root.ts makes.
#   docker buildx build --platform linux/amd64,linux/arm64 -t REGISTRY/postern:v0.1.0 --push .
# Pin both bases by digest: --build-arg BASE=…@sha256:… --build-arg BUILD=…@sha256:…
ARG BUILD=docker.io/library/node:24-bookworm-slim
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot

# Everything below /app is JavaScript: it is made once, on the machine that builds, for every platform.
FROM --platform=$BUILDPLATFORM ${BUILD} AS build
WORKDIR /src
COPY . .
RUN npm ci && npm exec -- node scripts/build-image-root.ts /app

FROM ${BASE}
COPY --from=build /app /app
WORKDIR /app
# By number, so that the kubelet can tell that it is not root. Any other user does as well.
USER 65532:65532
EXPOSE 8081
# The flags by which the operator needs a third less memory: bench/README.md.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=2", "--heap-growing-percent=20", "/app/node_modules/postern/bin/postern.js"]
CMD ["operator"]
