import { type Code, childOf, fieldOf, hasToken, partsOf, textOf } from "../syntax.ts";

/** What a declaration is called inside its container. Two units with one key are the same thing in two versions. */
export interface Naming {
  readonly key: string;
  /** The names it brings into the scope around it; empty for plain statements. */
  readonly names: readonly string[];
}

const functions = ["function_declaration", "generator_function_declaration", "function_signature"];
const classes = ["class_declaration", "abstract_class_declaration", "class"];
const testCalls = ["test", "it", "describe", "suite", "context", "bench"];

/** The declaration inside `export`, `declare` and decorators. */
export function unwrap(code: Code): Code {
  const inner =
    code.node.type === "export_statement"
      ? fieldOf(code, "declaration")
      : code.node.type === "ambient_declaration"
        ? partsOf(code)[0]
        : code.node.type === "decorated_definition"
          ? fieldOf(code, "definition")
          : code.node.type === "expression_statement"
            ? childOf(code, "internal_module")
            : undefined;
  return inner === undefined ? code : unwrap(inner);
}

/** How a unit is recognised in the other versions. */
export function namingOf(code: Code): Naming {
  if (code.node.type === "export_statement") return exportNaming(code);
  const inner = unwrap(code);
  if (inner.node.type === "import_statement" && inner.language !== "python") return importNaming(inner);
  return declarationNaming(inner) ?? memberNaming(inner) ?? pythonNaming(inner, code) ?? statementNaming(inner);
}

function exportNaming(code: Code): Naming {
  const source = fieldOf(code, "source");
  const type = hasToken(code, "type") ? "type " : "";
  const names = (
    childOf(code, "export_clause") === undefined ? [] : partsOf(childOf(code, "export_clause") ?? code)
  ).map((specifier) => textOf(fieldOf(specifier, "alias") ?? fieldOf(specifier, "name") ?? specifier));
  const declared = fieldOf(code, "declaration");
  if (hasToken(code, "default")) {
    return { key: "export default", names: ["default", ...(declared === undefined ? [] : namingOf(declared).names)] };
  }
  if (childOf(code, "export_clause") !== undefined) {
    return {
      key: `export ${type}{} ${source === undefined ? "" : quoteless(textOf(source))}`,
      names: names.map((name) => `export ${name}`),
    };
  }
  const inner = unwrap(code);
  return inner === code ? { key: `statement ${textOf(code)}`, names: [] } : namingOf(inner);
}

function importNaming(code: Code): Naming {
  const clause = childOf(code, "import_clause");
  const source = fieldOf(code, "source");
  if (clause === undefined || source === undefined) return { key: `statement ${textOf(code)}`, names: [] };
  const star = childOf(clause, "namespace_import") === undefined ? "" : "* ";
  const type = hasToken(code, "type") ? "type " : "";
  return { key: `import ${type}${star}${quoteless(textOf(source))}`, names: importedNames(clause) };
}

function importedNames(clause: Code): string[] {
  return partsOf(clause).flatMap((part) => {
    if (part.node.type === "identifier") return [textOf(part)];
    if (part.node.type === "namespace_import") return partsOf(part).map(textOf);
    return partsOf(part).map((specifier) =>
      textOf(fieldOf(specifier, "alias") ?? fieldOf(specifier, "name") ?? specifier),
    );
  });
}

function declarationNaming(code: Code): Naming | undefined {
  const { type } = code.node;
  const name = fieldOf(code, "name");
  if (type === "lexical_declaration" || type === "variable_declaration") {
    const targets = partsOf(code).map((declarator) => fieldOf(declarator, "name") ?? declarator);
    const names = targets.flatMap(boundNames);
    const simple = targets.every(({ node }) => node.type === "identifier");
    const value = partsOf(code).map((declarator) => fieldOf(declarator, "value"))[0];
    if (!simple && value !== undefined) return { key: `unpack ${textOf(value)}`, names };
    return { key: `variable ${names.join(" ")}`, names };
  }
  if (name === undefined) return undefined;
  const names = [quoteless(textOf(name))];
  if (functions.includes(type)) return { key: `function ${names}`, names };
  if (classes.includes(type)) return { key: `class ${names}`, names };
  if (type === "interface_declaration" || type === "type_alias_declaration") return { key: `type ${names}`, names };
  if (type === "enum_declaration") return { key: `enum ${names}`, names };
  if (type === "internal_module" || type === "module") return { key: `namespace ${names}`, names };
  return undefined;
}

/** The names a pattern binds: `{ a, b: [c] }` binds a and c. */
export function boundNames(pattern: Code): string[] {
  const { type } = pattern.node;
  if (type === "identifier" || type === "shorthand_property_identifier_pattern") return [textOf(pattern)];
  if (type === "pair_pattern") return boundNames(fieldOf(pattern, "value") ?? pattern);
  if (type === "assignment_pattern" || type === "object_assignment_pattern") {
    return boundNames(fieldOf(pattern, "left") ?? pattern);
  }
  return partsOf(pattern).flatMap(boundNames);
}

function memberNaming(code: Code): Naming | undefined {
  const { type } = code.node;
  const named = fieldOf(code, "name") ?? fieldOf(code, "property");
  const prefix = hasToken(code, "static") ? "static " : "";
  switch (type) {
    case "method_definition":
    case "method_signature":
    case "abstract_method_signature": {
      const accessor = hasToken(code, "get") ? "get " : hasToken(code, "set") ? "set " : "";
      return named && { key: `${prefix}${accessor}member ${keyText(named)}`, names: [keyText(named)] };
    }
    case "public_field_definition":
    case "field_definition":
    case "property_signature":
    case "enum_assignment":
      return named && { key: `${prefix}member ${keyText(named)}`, names: [keyText(named)] };
    case "pair":
    case "pair_pattern": {
      const key = fieldOf(code, "key");
      if (key === undefined) return undefined;
      const constant = code.language !== "python" || key.node.type === "string" || key.node.type === "integer";
      return constant
        ? { key: `member ${keyText(key)}`, names: [keyText(key)] }
        : { key: `entry ${textOf(key)}`, names: [] };
    }
    case "shorthand_property_identifier":
    case "shorthand_property_identifier_pattern":
    case "property_identifier":
      return { key: `member ${textOf(code)}`, names: [textOf(code)] };
    case "import_specifier":
    case "export_specifier": {
      const local = textOf(fieldOf(code, "alias") ?? fieldOf(code, "name") ?? code);
      return { key: `member ${local}`, names: [local] };
    }
    case "aliased_import":
    case "dotted_name": {
      const local = textOf(fieldOf(code, "alias") ?? code);
      return { key: `member ${local}`, names: [local] };
    }
    case "switch_case":
      return { key: `case ${textOf(fieldOf(code, "value") ?? code)}`, names: [] };
    case "switch_default":
      return { key: "default", names: [] };
    default:
      return undefined;
  }
}

/** Keys that are the same property are one text: `a`, `"a"` and `'a'`. */
const keyText = (key: Code): string =>
  key.node.type === "computed_property_name" ? textOf(key).replace(/\s+/g, "") : quoteless(textOf(key));

export const quoteless = (text: string): string => text.replace(/^(["'`])([\w$./@ -]*)\1$/, "$2");

function pythonNaming(code: Code, outer: Code): Naming | undefined {
  const { type } = code.node;
  const name = fieldOf(code, "name");
  if (type === "function_definition" && name !== undefined) {
    const role = childOf(outer, "decorator");
    const accessor = role === undefined ? undefined : /^@\s*\w+\.(setter|deleter|getter)\b/.exec(textOf(role))?.[1];
    return { key: `function ${textOf(name)}${accessor === undefined ? "" : ` ${accessor}`}`, names: [textOf(name)] };
  }
  if (type === "class_definition" && name !== undefined) return { key: `class ${textOf(name)}`, names: [textOf(name)] };
  if (type === "import_from_statement") {
    const from = textOf(fieldOf(code, "module_name") ?? code);
    if (childOf(code, "wildcard_import") !== undefined) return { key: `statement ${textOf(code)}`, names: [] };
    return { key: `from ${from}`, names: pythonImported(code) };
  }
  if (type === "import_statement") {
    return { key: `import ${partsOf(code).map(textOf).join(", ")}`, names: pythonImported(code) };
  }
  return undefined;
}

const pythonImported = (code: Code): string[] =>
  partsOf(code)
    .filter(({ node }) => node.field === "name")
    .map((item) => textOf(fieldOf(item, "alias") ?? item).split(".")[0] ?? "");

const withHeader = ["if_statement", "for_statement", "for_in_statement", "while_statement", "with_statement"];

function statementNaming(code: Code): Naming {
  const { type } = code.node;
  const whole = { key: `statement ${textOf(code)}`, names: [] };
  if (withHeader.includes(type)) {
    const body = fieldOf(code, "consequence") ?? fieldOf(code, "body");
    return body === undefined
      ? whole
      : { key: `statement ${code.src.slice(code.node.start, body.node.start).trim()}`, names: [] };
  }
  const expression = type === "expression_statement" ? partsOf(code)[0] : undefined;
  if (expression === undefined) return whole;
  if (expression.node.type === "assignment_expression" || expression.node.type === "assignment") {
    const left = fieldOf(expression, "left");
    if (left === undefined) return whole;
    const plain = code.language === "python" && left.node.type === "identifier";
    return { key: `${plain ? "variable" : "assign"} ${textOf(left)}`, names: plain ? [textOf(left)] : [] };
  }
  return testNaming(expression) ?? whole;
}

function testNaming(call: Code): Naming | undefined {
  if (!isTestCall(call)) return undefined;
  const callee = fieldOf(call, "function");
  const [title] = partsOf(fieldOf(call, "arguments") ?? call);
  if (callee === undefined || title === undefined) return undefined;
  return { key: `test ${textOf(callee)} ${textOf(title)}`, names: [] };
}

/** A call such as `test("title", ...)`: it registers under a title and does not depend on its neighbours. */
export function isTestCall(call: Code): boolean {
  if (call.node.type !== "call_expression") return false;
  const callee = fieldOf(call, "function");
  const [title] = partsOf(fieldOf(call, "arguments") ?? call);
  return callee !== undefined && testCalls.includes(textOf(callee)) && title?.node.type === "string";
}
