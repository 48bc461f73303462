/** What `ov --version` prints: the bare version, or with --json one document without the envelope. */
export function versionText({ version, json }: { version: string; json: boolean }): string {
  if (!json) return version;
  return JSON.stringify({
    name: "overstory",
    version,
    runtime: "bun",
    platform: `${process.platform}-${process.arch}`,
  });
}
