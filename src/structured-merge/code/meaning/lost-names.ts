import { type Code, fieldOf, nodesOf, partsOf, type Triple, textOf } from "../syntax.ts";
import { freshLeaves } from "./fresh-leaves.ts";
import { boundNames, namingOf } from "./naming.ts";

/** A name that one side no longer declares in this code while the other side's edit mentions it. */
export function lostNameUsed({ base, ours, theirs }: Triple<Code>): string | undefined {
  return lostOn({ base, remover: ours, user: theirs }) ?? lostOn({ base, remover: theirs, user: ours });
}

interface Roles {
  readonly base: Code;
  readonly remover: Code;
  readonly user: Code;
}

function lostOn({ base, remover, user }: Roles): string | undefined {
  const lost = declaredIn(base).difference(declaredIn(remover));
  if (lost.size === 0) return undefined;
  return freshLeaves(base, user).find(({ text }) => lost.has(text))?.text;
}

/** Every name declared anywhere in the code: variables, parameters, functions, members, imports. */
export function declaredIn(code: Code): Set<string> {
  const names = new Set<string>();
  for (const part of nodesOf(code)) for (const name of declaredBy(part)) names.add(name);
  return names;
}

function declaredBy(part: Code): readonly string[] {
  switch (part.node.type) {
    case "variable_declarator":
      return boundNames(fieldOf(part, "name") ?? part);
    case "formal_parameters":
    case "parameters":
    case "lambda_parameters":
      return partsOf(part).flatMap(parameterNames);
    case "assignment":
    case "for_statement":
    case "for_in_statement":
    case "for_in_clause": {
      const left = fieldOf(part, "left");
      return left === undefined ? [] : boundNames(left);
    }
    case "arrow_function": {
      const single = fieldOf(part, "parameter");
      return single === undefined ? [] : [textOf(single)];
    }
    case "catch_clause": {
      const caught = fieldOf(part, "parameter");
      return caught === undefined ? [] : boundNames(caught);
    }
    case "as_pattern_target":
      return [textOf(part)];
    case "expression_statement":
    case "export_statement":
    case "lexical_declaration":
      return [];
    default:
      return /(declaration|definition|signature|statement|pair|specifier|assignment)$/.test(part.node.type)
        ? namingOf(part).names
        : [];
  }
}

/** The names one parameter binds, its type and default left out. */
export function parameterNames(parameter: Code): string[] {
  const pattern = fieldOf(parameter, "pattern") ?? fieldOf(parameter, "name") ?? fieldOf(parameter, "left");
  if (pattern !== undefined) return boundNames(pattern);
  if (parameter.node.type === "typed_parameter") return partsOf(parameter).slice(0, 1).flatMap(boundNames);
  return boundNames(parameter);
}
