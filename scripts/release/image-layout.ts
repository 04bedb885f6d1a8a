// Writes images as OCI layouts, without a registry and without a daemon: https://github.com/opencontainers/image-spec.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sha256, tarOf, writeJson } from "./tar.ts";

/** An image for one platform. */
export interface ImageSource {
  architecture: "amd64" | "arm64";
  /** Folders that become one layer each, the first one below. */
  layers: readonly { folder: string; what: string }[];
}

/** How an image is started. */
export interface ImageConfig {
  entrypoint: readonly string[];
  cmd: readonly string[];
  user: string;
  workdir: string;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

const media = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
};

/** How the Dockerfile says that the image is started: it is said once. */
export function configOfDockerfile(dockerfile: string): ImageConfig {
  const text = readFileSync(dockerfile, "utf8");
  const last = text.slice(text.lastIndexOf("FROM "));
  const value = (word: string) => new RegExp(`^${word} (.*)$`, "m").exec(last)?.[1] ?? "";
  return {
    entrypoint: JSON.parse(value("ENTRYPOINT")),
    cmd: JSON.parse(value("CMD")),
    user: value("USER"),
    workdir: value("WORKDIR"),
  };
}

/** Write a layout with one image for several platforms; gives the digest of its index. */
export function writeImageLayout(
  folder: string,
  sources: readonly ImageSource[],
  options: { config: ImageConfig; tag: string; labels: Record<string, string> },
): string {
  const blobs = join(folder, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, bytes: Buffer): Descriptor => {
    const hash = sha256(bytes);
    writeFileSync(join(blobs, hash), bytes);
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length };
  };
  const json = (mediaType: string, value: object) =>
    put(mediaType, Buffer.from(JSON.stringify(value)));
  const { entrypoint, cmd, user, workdir } = options.config;
  const manifests = sources.map(({ architecture, layers }) => {
    const tars = layers.map(({ folder: from }) => tarOf(from));
    const config = json(media.config, {
      architecture,
      os: "linux",
      config: {
        User: user,
        WorkingDir: workdir,
        Entrypoint: entrypoint,
        Cmd: cmd,
        Env: ["PATH=/nodejs/bin:/usr/bin"],
        Labels: options.labels,
      },
      rootfs: { type: "layers", diff_ids: tars.map((tar) => `sha256:${sha256(tar)}`) },
      history: layers.map(({ what }) => ({ created_by: what })),
    });
    const manifest = json(media.manifest, {
      schemaVersion: 2,
      mediaType: media.manifest,
      config,
      layers: tars.map((tar) => put(media.layer, gzipSync(tar))),
      annotations: options.labels,
    });
    return { ...manifest, platform: { architecture, os: "linux" } };
  });
  const index = json(media.index, { schemaVersion: 2, mediaType: media.index, manifests });
  const annotations = { "org.opencontainers.image.ref.name": options.tag };
  writeJson(join(folder, "oci-layout"), { imageLayoutVersion: "1.0.0" });
  writeJson(join(folder, "index.json"), {
    schemaVersion: 2,
    mediaType: media.index,
    manifests: [{ ...index, annotations }],
  });
  return index.digest;
}
