import { parameterNames } from "./lost-names.ts";
import { namingOf } from "./naming.ts";
import { type Code, fieldOf, nodesOf, partsOf, textOf } from "./syntax.ts";

const scopes =
  /^(program|module|statement_block|block|class_body|interface_body|object_type|object|enum_body|switch_body|dictionary|named_imports|export_clause)$/;

/** A name that is declared more often in one scope of the result than in any scope like it of either side. */
export function newTwin(result: Code, ours: Code, theirs: Code): string | undefined {
  const [left, right] = [twinsOf(ours), twinsOf(theirs)];
  for (const [name, count] of twinsOf(result)) {
    if (count > Math.max(left.get(name) ?? 1, right.get(name) ?? 1)) return name.split(" ").at(-1);
  }
  return undefined;
}

/** For each sort of scope and name, the highest number of times one scope declares it. */
function twinsOf(root: Code): Map<string, number> {
  const most = new Map<string, number>();
  for (const scope of nodesOf(root)) {
    const counts = new Map<string, number>();
    for (const name of namesIn(scope)) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [name, count] of counts) {
      const label = `${scope.node.type} ${name}`;
      if (count > 1) most.set(label, Math.max(count, most.get(label) ?? 0));
    }
  }
  return most;
}

function namesIn(scope: Code): string[] {
  const { type } = scope.node;
  if (/^jsx_(opening|self_closing)_element$/.test(type)) {
    return partsOf(scope)
      .filter(({ node }) => node.type === "jsx_attribute")
      .map((attribute) => textOf(partsOf(attribute)[0] ?? attribute));
  }
  if (type === "argument_list") {
    return partsOf(scope)
      .filter(({ node }) => node.type === "keyword_argument")
      .map((argument) => textOf(fieldOf(argument, "name") ?? argument));
  }
  const parameters = fieldOf(scope, "parameters");
  if (parameters !== undefined) {
    const body = fieldOf(scope, "body");
    const local = body?.node.type === "statement_block" ? partsOf(body).flatMap(lexicalNames) : [];
    return [...partsOf(parameters).flatMap(parameterNames), ...local];
  }
  if (!scopes.test(type)) return [];
  const parts = partsOf(scope).map((part) => ({ part, ...namingOf(part) }));
  const isVariable = (key: string) => scope.language === "python" && key.startsWith("variable ");
  const defined = new Set(parts.flatMap(({ key, names }) => (isVariable(key) ? [] : names)));
  return parts.flatMap(({ part, key, names }) => {
    // Python may give a variable a value as often as it likes, but not to a name that is also defined.
    if (isVariable(key)) return names.filter((name) => defined.has(name));
    if (type === "switch_body") return [key];
    const isList = names.some((name) => name.startsWith("export "));
    const exported = part.node.type === "export_statement" && !isList ? names : [];
    return [...names, ...exported.map((name) => `export ${name}`)];
  });
}

const lexicalNames = (statement: Code): readonly string[] =>
  /^(lexical_declaration|class_declaration|function_declaration)$/.test(statement.node.type)
    ? namingOf(statement).names
    : [];
