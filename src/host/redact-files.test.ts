import { expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantedSecrets } from "../../testkit/secrets.ts";
import { redactor } from "../domain/text/redact.ts";
import { redactFiles } from "./redact-files.ts";

async function world(use: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "ov-redact-"));
  try {
    await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const [{ value: key } = { value: "" }] = plantedSecrets(1);

test("secrets go from every file, and every other byte stays", () =>
  world(async (dir) => {
    mkdirSync(join(dir, "turn", "input"), { recursive: true });
    const bytes = Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x80]);
    writeFileSync(join(dir, "turn", "out"), Buffer.concat([bytes, Buffer.from(`\nkey ${key}\r\n\n`), bytes]));
    writeFileSync(join(dir, "turn", "input", "in"), `{"text":"grüße ${key}"}`, { mode: 0o600 });
    writeFileSync(join(dir, "elsewhere"), key);
    symlinkSync(join(dir, "elsewhere"), join(dir, "turn", "link"));
    await redactFiles(join(dir, "turn"), redactor(["pässwörd-12"]));
    expect(readFileSync(join(dir, "turn", "out"))).toEqual(
      Buffer.concat([bytes, Buffer.from("\nkey [REDACTED]\r\n\n"), bytes]),
    );
    expect(readFileSync(join(dir, "turn", "input", "in"), "utf8")).toBe('{"text":"grüße [REDACTED]"}');
    expect(statSync(join(dir, "turn", "input", "in")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, "elsewhere"), "utf8")).toBe(key);
    expect(readdirSync(join(dir, "turn")).toSorted()).toEqual(["input", "link", "out"]);
  }));

test("a link that an agent left where the new file is written leads nowhere", () =>
  world(async (dir) => {
    mkdirSync(join(dir, "turn"));
    writeFileSync(join(dir, "turn", "out"), `key ${key}\n`);
    writeFileSync(join(dir, "profile"), "of the user\n");
    symlinkSync(join(dir, "profile"), join(dir, "turn", "out.redacted"));
    await redactFiles(join(dir, "turn"), redactor([]));
    expect(readFileSync(join(dir, "turn", "out"), "utf8")).toBe("key [REDACTED]\n");
    expect(readFileSync(join(dir, "profile"), "utf8")).toBe("of the user\n");
  }));

test("a value that is no ASCII text is found, and a file without secrets is not written", () =>
  world(async (dir) => {
    writeFileSync(join(dir, "a"), "x pässwörd-12 y\n");
    writeFileSync(join(dir, "b"), "nothing here\n");
    const before = statSync(join(dir, "b")).ino;
    await redactFiles(dir, redactor(["pässwörd-12"]));
    expect(readFileSync(join(dir, "a"), "utf8")).toBe("x [REDACTED] y\n");
    expect(statSync(join(dir, "b")).ino).toBe(before);
  }));

test("a long file keeps its lines, and its secrets go wherever the pieces end", () =>
  world(async (dir) => {
    const line = (at: number): string => JSON.stringify({ type: "text", at, text: "x".repeat(500) });
    const lines = Array.from({ length: 6_000 }, (_, at) => (at % 1_000 === 7 ? JSON.stringify({ at, key }) : line(at)));
    writeFileSync(join(dir, "out"), `${lines.join("\n")}\n`);
    await redactFiles(dir, redactor([]));
    const left = readFileSync(join(dir, "out"), "utf8").split("\n");
    expect(left).toHaveLength(lines.length + 1);
    expect(left.filter((text) => text.includes("[REDACTED]"))).toHaveLength(6);
    expect(left[8]).toBe(lines[8] ?? "");
  }));
