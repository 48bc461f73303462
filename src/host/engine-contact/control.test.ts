import { expect, test } from "bun:test";
import { unitName, unitText } from "./control.ts";

const facts = {
  root: "/home/ann/app",
  state: "/home/ann/app/.git/ov-state",
  engine: ["/usr/bin/ov", "engine", "run"],
  env: { PATH: "/usr/bin" },
};

test("the service starts the engine, ends nothing but it, and restarts it only after a failure", () => {
  const lines = unitText(facts).split("\n");
  expect(lines).toContain('ExecStart="/usr/bin/ov" "engine" "run"');
  expect(lines).toContain('Environment="PATH=/usr/bin"');
  expect(lines).toContain("ConditionPathExists=/home/ann/app/.git/ov-state");
  expect(lines).toContain("KillMode=process");
  expect(lines).toContain("Restart=on-failure");
});

test("a path cannot say anything but where the project is", () => {
  const root = '/tmp/a "b" %h $HOME\n[Service]\nExecStart=evil';
  const lines = unitText({ root, state: root, engine: ["ov", root], env: { X: root } }).split("\n");
  expect(lines.filter((line) => line.startsWith("ExecStart"))).toEqual([
    'ExecStart="ov" "/tmp/a \\"b\\" %%h $$HOME\\n[Service]\\nExecStart=evil"',
  ]);
  expect(lines.filter((line) => line === "[Service]")).toHaveLength(1);
});

test("every project has a service of its own", () => {
  expect(unitName("/a")).toMatch(/^overstory-[0-9a-f]{12}\.service$/);
  expect(unitName("/a")).not.toBe(unitName("/b"));
});
