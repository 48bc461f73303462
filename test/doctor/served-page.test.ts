import { expect, test } from "bun:test";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";
import { freePort } from "../../testkit/web.ts";

test("a page that other machines can reach is named and warned about; a page of this machine alone is named", async () => {
  await using project = await makeProject();
  const before = await project.ov("doctor", "--category", "serve", "--verbose");
  expect(before.out).toContain("the page is not served");
  const port = await freePort();
  await project.json("serve", "--detach", "--port", String(port));
  const own = await project.ov("doctor", "--verbose");
  expect(own.out).toContain(`served at http://127.0.0.1:${port}/`);
  expect(own.out).not.toContain("nothing listens on a port");
  expect(own.out).not.toContain("other machines can reach");
  await project.json("serve", "stop");
  await project.json("serve", "--detach", "--host", "0.0.0.0", "--port", String(port));
  const open = jsonOf(await project.ov("doctor", "--category", "security", "--json")).checks as { id: string }[];
  expect(open.find(({ id }) => id === "bind-address")).toMatchObject({
    status: "warn",
    message: expect.stringContaining(`0.0.0.0:${port}`),
    next: "ov serve stop && ov serve --detach --host 127.0.0.1",
  });
}, 60_000);
