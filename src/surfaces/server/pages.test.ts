import { expect, test } from "bun:test";
import type { UiFile } from "./app.ts";
import { pageReply } from "./pages.ts";

const file = (text: string, more: Partial<UiFile>): UiFile => ({
  bytes: new TextEncoder().encode(text),
  type: "text/javascript",
  immutable: true,
  ...more,
});
const files = new Map([
  ["/index.html", file('<meta content="__NONCE__"><p nonce="__NONCE__">', { type: "text/html", immutable: false })],
  ["/assets/a.js", file("plain", { encodings: { br: new Uint8Array([1, 2]) } })],
]);
const ask = (path: string, headers: Record<string, string> = {}) =>
  pageReply({ get: async (at) => files.get(at) }, new Request(`http://127.0.0.1${path}`, { headers }), path);

test("every address of the page gets the document, with a nonce that its policy names", async () => {
  const [one, other] = [await ask("/"), await ask("/agents/b1")];
  const [text, again] = [await one.text(), await other.text()];
  const nonce = /content="([^"]+)"/.exec(text)?.[1] ?? "";
  expect(nonce.length).toBeGreaterThan(20);
  expect(one.headers.get("content-security-policy")).toContain(`style-src 'self' 'nonce-${nonce}'`);
  expect(text).not.toContain("__NONCE__");
  expect(again).not.toContain(nonce);
});

test("a file is sent compressed to those that take it, a missing one is not the document", async () => {
  expect((await ask("/assets/a.js", { "accept-encoding": "gzip, br;q=1" })).headers.get("content-encoding")).toBe("br");
  const plain = await ask("/assets/a.js");
  expect([await plain.text(), plain.headers.get("cache-control")]).toEqual([
    "plain",
    "public, max-age=31536000, immutable",
  ]);
  for (const path of ["/assets/none.js", "/assets/none", "/assets/", "/../package.json", "/assets/..%2fmain.ts"]) {
    const reply = await ask(path);
    expect([path, reply.status, await reply.json()]).toMatchObject([path, 404, { error: { code: "NOT_FOUND" } }]);
  }
});

test("an address that the page does not have is answered with 404 and the page, which says so", async () => {
  for (const path of ["/", "/fleet", "/fleet/", "/agents/b.1", "/agents/lead%2Fx", "/runs/compare", "/settings/merge"])
    expect([path, (await ask(path)).status]).toEqual([path, 200]);
  for (const path of ["/nothing", "/agents", "/agents/", "/agents/b1/more", "/Fleet", "//fleet", "/fleet//"]) {
    const reply = await ask(path);
    expect([path, reply.status, reply.headers.get("content-type")]).toEqual([path, 404, "text/html; charset=utf-8"]);
    expect(reply.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
});
