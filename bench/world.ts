import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeProject, type ProjectOptions, type TestProject } from "../testkit/project.ts";

/** What users get, unless `OV_BIN` names another build. */
export const ov = process.env.OV_BIN ?? join(resolve(import.meta.dir, ".."), "dist", "ov");

/** In memory where there is such a place: how fast a disk takes files depends on everybody else who writes to it. */
const place = process.env.BENCH_DIR ?? (existsSync("/dev/shm") ? "/dev/shm" : undefined);

/** A project driven by the release build, with so many small files in its repository. */
export function benchProject({
  files = 1,
  ...options
}: Omit<ProjectOptions, "files"> & { files?: number } = {}): Promise<TestProject> {
  process.env.OV_BIN = ov;
  if (place !== undefined) process.env.TMPDIR = place;
  return makeProject({ ...options, files: sampleFiles(files) });
}

function sampleFiles(count: number): Record<string, string> {
  const made: Record<string, string> = {};
  for (let i = 0; i < count; i++)
    made[`src/part-${i % 50}/file-${i}.txt`] = `line one of ${i}\n${"text ".repeat(20)}\n`;
  return made;
}

/** Milliseconds until the command has ended; a failure ends the benchmark. */
export async function timeOf(project: TestProject, cmd: readonly string[]): Promise<number> {
  const started = performance.now();
  const child = Bun.spawn({
    cmd: [...cmd],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const code = await child.exited;
  const took = performance.now() - started;
  if (code !== 0) throw new Error(`${cmd.join(" ")}: ${await new Response(child.stderr).text()}`);
  return took;
}
