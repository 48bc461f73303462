import { expect, test } from "bun:test";
import { catalog, isUseCase, type OperationName, operationOf } from "../src/usecases/catalog.ts";

const names = Object.keys(catalog) as OperationName[];

test("every operation is named by one grammar: a noun, a dot, a verb", () => {
  expect(names.filter((name) => !/^[a-z]+\.[a-z]+([A-Z][a-z]+)*$/.test(name))).toEqual([]);
});

test("every operation can be loaded, and says what kind it is", async () => {
  for (const name of names) {
    const operation = await operationOf(name);
    expect([name, operation.kind]).toEqual([name, expect.stringMatching(/^(read|write|effect|stream)$/)]);
    if (!isUseCase(operation))
      expect([name, operation.place]).toEqual([name, expect.stringMatching(/^(engine|caller)$/)]);
  }
});
