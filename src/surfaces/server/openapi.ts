import { type AnyRoute, routes } from "../../contract/http/routes.ts";
import type { Schema } from "../../domain/schema/schema.ts";
import { operationOf } from "../../usecases/catalog.ts";
import { ownAddresses, propertiesOf } from "./request.ts";

/** The documentation of every address, from the schemas that requests are compared with. */
export async function openApi(version: string): Promise<object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, route] of Object.entries(routes)) {
    const [method = "", path = ""] = name.split(" ");
    const shown = path.replace(/:([A-Za-z]+)/g, "{$1}");
    paths[shown] = {
      ...paths[shown],
      [method.toLowerCase()]: await described(method, path, route as unknown as AnyRoute),
    };
  }
  for (const [path, method] of Object.entries(ownAddresses)) paths[path] = { [method.toLowerCase()]: ownAddress(path) };
  const info = { title: "Overstory", version };
  const components = {
    schemas: {
      Error: {
        type: "object",
        required: ["error"],
        properties: {
          error: {
            type: "object",
            required: ["code", "message"],
            properties: {
              code: { type: "string" },
              message: { type: "string" },
              hint: { type: "string" },
              details: {},
            },
          },
        },
      },
    },
    securitySchemes: { token: { type: "http", scheme: "bearer" } },
  };
  return { openapi: "3.1.0", info, security: [{ token: [] }], components, paths };
}

const error = {
  description: "refused",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};
const anyDocument = { "application/json": { schema: {} } };

/** The login needs no token: it is how a browser gets in. */
const ownAddress = (path: string): object => {
  const isLogin = path === "/api/login";
  const code = { type: "object", required: ["code"], properties: { code: { type: "string" } } };
  return {
    operationId: path,
    summary: path.slice("/api/".length),
    responses: { 200: { description: "done", content: anyDocument }, default: error },
    ...(isLogin ? { security: [], requestBody: { content: { "application/json": { schema: code } } } } : {}),
  };
};

async function described(method: string, path: string, route: AnyRoute): Promise<object> {
  const { request } = await operationOf(route.operation);
  const properties = propertiesOf(request);
  const inPath = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = ""]) => name);
  const nameOf = (field: string): string =>
    Object.entries(route.names ?? {}).find(([, to]) => to === field)?.[0] ?? field;
  const hidden = new Set([...Object.keys(route.fixed ?? {}), ...inPath.map((name) => route.names?.[name] ?? name)]);
  const places = route.isPaged === true ? ["before", "after"] : [];
  const left = Object.entries(properties).filter(([field]) => !hidden.has(field) && !places.includes(field));
  const required = new Set(request.type === "object" ? request.required : []);
  const isNeeded = (field: string): boolean => required.has(field) && !Object.hasOwn(route.defaults ?? {}, field);
  const parameter = (place: string, name: string, schema: Schema, needed: boolean) => ({
    name,
    in: place,
    required: needed,
    schema,
  });
  const ofPath = inPath.map((name) => parameter("path", name, { type: "string" }, true));
  const done = route.isLong === true ? "202" : "200";
  const common = {
    operationId: `${method} ${path}`,
    summary: route.operation,
    responses: { [done]: { description: "done", content: anyDocument }, default: error },
  };
  if (method === "GET") {
    const cursor = route.isPaged === true ? [parameter("query", "cursor", { type: "string" }, false)] : [];
    const query = left.map(([field, schema]) => parameter("query", nameOf(field), schema, isNeeded(field)));
    return { ...common, parameters: [...ofPath, ...query, ...cursor] };
  }
  const body = {
    type: "object",
    properties: Object.fromEntries(left.map(([field, schema]) => [nameOf(field), schema])),
    required: left
      .map(([field]) => field)
      .filter(isNeeded)
      .map(nameOf),
    additionalProperties: false,
  };
  return { ...common, parameters: ofPath, requestBody: { content: { "application/json": { schema: body } } } };
}
