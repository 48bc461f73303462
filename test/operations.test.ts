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

test("every operation says what its request looks like: an object of known keys, as plain data", async () => {
  for (const name of names) {
    const { request } = await operationOf(name);
    const forms = request.type === undefined ? (request.anyOf ?? []) : [request];
    expect([name, forms.length > 0]).toEqual([name, true]);
    for (const form of forms) {
      expect([name, form]).toMatchObject([name, { type: "object", additionalProperties: false }]);
    }
    expect([name, JSON.parse(JSON.stringify(request))]).toEqual([name, request]);
  }
});
