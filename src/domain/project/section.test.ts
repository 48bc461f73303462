import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { orchestratorGuide } from "./generated-texts.ts";
import { sectionIn, withSection } from "./section.ts";

const block = "<!-- overstory:begin -->\nguide\n<!-- overstory:end -->";

const textOf = (text: string | undefined, body = "guide"): string | undefined => {
  const edit = withSection(text, body);
  return edit.kind === "changed" ? edit.text : edit.kind;
};

describe("where there is no section", () => {
  test("a missing file holds nothing but the section", () => {
    expect(textOf(undefined)).toBe(`${block}\n`);
    expect(textOf("")).toBe(`${block}\n`);
  });

  test("it follows existing text after an empty line", () => {
    expect(textOf("# Mine\n")).toBe(`# Mine\n\n${block}\n`);
    expect(textOf("# Mine")).toBe(`# Mine\n\n${block}\n`);
  });

  test("a text that only mentions a mark is not a section", () => {
    const text = "We fence with `<!-- overstory:begin -->` here.\n";
    expect(textOf(text)).toBe(`${text}\n${block}\n`);
  });

  test("line ends follow the file's", () => {
    expect(textOf("# Mine\r\n")).toBe(`# Mine\r\n\r\n${block.replaceAll("\n", "\r\n")}\r\n`);
  });
});

describe("where there is one", () => {
  test("only the section is replaced", () => {
    expect(textOf(`before\n${block}\nafter`, "new")).toBe(`before\n${block.replace("guide", "new")}\nafter`);
  });

  test("an equal one is left alone", () => {
    expect(textOf(`before\n${block}\nafter`)).toBe("same");
  });

  test("marks that are not one pair are left alone", () => {
    for (const text of [
      "<!-- overstory:begin -->\n",
      "<!-- overstory:end -->\n<!-- overstory:begin -->\n",
      `<!-- overstory:begin -->\n${block}\n`,
      `${block}\n${block}\n`,
    ]) {
      expect(textOf(text)).toBe("broken");
    }
  });
});

test("whatever the author wrote stays, and a second time changes nothing", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary-ascii", maxLength: 8 }),
    fc.constantFrom("\r", "", "<!-- overstory -->", "é"),
  );
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom("\n", "\r\n"), fc.string(), (lines, newline, tail) => {
      const text = lines.join(newline);
      const first = withSection(text, "guide");
      if (first.kind !== "changed") throw new Error("nothing was added");
      expect(first.text.startsWith(text)).toBe(true);
      expect(withSection(first.text, "guide")).toEqual({ kind: "same" });
      const longer = withSection(`${first.text}${tail}`, "other\nguide");
      if (longer.kind !== "changed") throw new Error("nothing was replaced");
      expect(longer.text.startsWith(text)).toBe(true);
      expect(longer.text.endsWith(tail)).toBe(true);
    }),
  );
});

test("the guide can be spliced into a file of any encoding", () => {
  expect(orchestratorGuide).toMatch(/^[\n\x20-\x7e]+$/);
  expect(orchestratorGuide).not.toContain("overstory:begin");
});

test("what stands between the marks can be read, and is nothing where they are missing or no pair", () => {
  expect(sectionIn(`before\n${block}\nafter`)).toEqual({ body: "guide\n" });
  expect(sectionIn(`before\r\n${block.replaceAll("\n", "\r\n")}`)).toEqual({ body: "guide\r\n" });
  expect(sectionIn("before\n")).toBe("none");
  expect(sectionIn(`${block}\n${block}\n`)).toBe("broken");
});
