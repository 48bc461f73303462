import { expect, test } from "bun:test";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";
import { freePort } from "../../testkit/web.ts";

test("ov serve without --detach serves until Ctrl-C, and then no more", async () => {
  await using project = await makeProject({});
  const port = await freePort();
  const child = Bun.spawn([ovBinary(), "serve", "--port", String(port)], {
    cwd: project.root,
    env: { ...project.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const reader = child.stdout.getReader();
  let shown = "";
  while (!shown.includes("Until Ctrl-C.")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it ended with ${await child.exited}: ${shown}`);
    shown += new TextDecoder().decode(value);
  }
  // A program that waits for nothing ends as soon as its text is written.
  expect(await Promise.race([child.exited, Bun.sleep(300)])).toBeUndefined();
  expect(await project.json("serve", "status")).toMatchObject({ serving: true, port });
  child.kill("SIGINT");
  expect(await child.exited).toBe(0);
  expect(await project.json("serve", "status")).toMatchObject({ serving: false });
});
