import { expect, test } from "bun:test";
import fc from "fast-check";
import { fillTemplates, templateProblem } from "./template.ts";

const source = { fact: (name: string) => `<${name}>`, variable: (name: string) => `[${name}]` };

test("names are replaced in every string of a value, and only there", () => {
  const value = { text: `a \${agent} \${env.HOME}`, list: [`\${turn}`, 3, null], deep: { flag: true } };
  expect(fillTemplates(value, source)).toEqual({
    text: "a <agent> [HOME]",
    list: ["<turn>", 3, null],
    deep: { flag: true },
  });
});

test("text without a template is kept as it is and is never a problem", () => {
  const text = fc.string({ unit: "binary" }).filter((value) => !value.includes("${"));
  fc.assert(
    fc.property(text, (value) => fillTemplates(value, source) === value && templateProblem(value) === undefined),
  );
});

test("a doubled dollar writes the template itself", () => {
  const name = fc.stringMatching(/^[^{}$]*$/);
  fc.assert(
    fc.property(name, (inner) => {
      const escaped = `$\${${inner}}`;
      return templateProblem(escaped) === undefined && fillTemplates(escaped, source) === `\${${inner}}`;
    }),
  );
});

test("an unknown name is a problem that lists the known ones", () => {
  expect(templateProblem(`echo \${HOME}`)).toContain(
    "known: agent, capability, task, turn, attempt, branch, cwd, env.NAME",
  );
});
