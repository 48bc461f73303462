import { type Code, childOf, fieldOf, hasToken, nodesOf, partsOf, type SyntaxNode, textOf } from "../syntax.ts";
import { isTestCall, unwrap } from "./naming.ts";

/**
 * free     may change places with any neighbour: running it cannot be noticed by another unit
 * effect   runs something when its place is reached, so its order among other effects is part of the program
 * slot     its position itself has a meaning: an implicit enum number, a positional constructor argument
 */
export const flows = ["free", "effect", "slot"] as const;
export type Flow = (typeof flows)[number];

const functionTypes = [
  "arrow_function",
  "function_expression",
  "function_declaration",
  "generator_function",
  "generator_function_declaration",
  "method_definition",
  "lambda",
  "function_definition",
];
const acts = [
  "await_expression",
  "await",
  "yield_expression",
  "yield",
  "assignment_expression",
  "augmented_assignment_expression",
  "augmented_assignment",
  "update_expression",
  "named_expression",
  "class_static_block",
];
/** Calls known to return a value and do nothing else; the prefixes are the usual names of factories. */
const quietCalls =
  /^(z|t|v|Joi|yup|Symbol|BigInt|Number|String|Boolean|RegExp|Math|JSON|Object|Array|Set|Map|WeakMap|WeakSet|Date|URL|Error|require|path|React|memo|forwardRef|lazy|styled|css|gql|re|Path|TypeVar|ParamSpec|NewType|namedtuple|frozenset|set|dict|list|tuple|int|float|str|bool|bytes|len|min|max|sum|sorted|range|field|Field|Column|Decimal|timedelta|datetime|os\.path|os\.environ|os\.getenv|process\.env)\b(?!\.(assign|defineProperty|set)\b)|^(\w+\.)?(create|make|define|build|get|to|parse|from)([A-Z_]\w*)?(\.|$|<)/;
const quietDecorators =
  /^@\s*(property|staticmethod|classmethod|abstractmethod|abc\.abstractmethod|override|overload|typing\.\w+|final|dataclass|dataclasses\.dataclass|cached_property|functools\.\w+|lru_cache|cache|wraps|contextmanager|asynccontextmanager|pytest\.\w+(\.\w+)*|\w+\.(setter|getter|deleter)|total_ordering|unique|Injectable|Component|Input|Output|Column|Entity|Prop|Field|Module|Directive|Pipe|observable|computed|action)\b/;

/** Whether a unit may trade places with its neighbours. */
export function flowOf(code: Code): Flow {
  const inner = unwrap(code);
  if (decoratorsOf(code).some((decorator) => !quietDecorators.test(textOf(decorator)))) return "effect";
  switch (inner.node.type) {
    case "import_statement":
      return inner.language === "python" || childOf(inner, "import_clause") !== undefined ? "free" : "slot";
    case "import_from_statement":
      return childOf(inner, "wildcard_import") === undefined ? "free" : "slot";
    case "export_statement":
      return inner.node.children.some(({ field }) => field === "value") && !isQuiet(inner) ? "effect" : "free";
    case "function_definition":
    case "pass_statement":
      return "free";
    case "future_import_statement":
    case "hash_bang_line":
      return "slot";
    case "expression_statement":
      return expressionFlow(inner);
    case "spread_element":
    case "dictionary_splat":
    case "rest_pattern":
      return "slot";
    case "class_static_block":
      return "effect";
    default:
      if (hasComputedName(inner)) return "slot";
      if (/(_statement|_block)$/.test(inner.node.type)) return "effect";
      return isQuiet(inner) ? "free" : "effect";
  }
}

const decoratorsOf = (code: Code): Code[] =>
  [code, unwrap(code)].flatMap(({ node }) =>
    node.children.filter(({ type }) => type === "decorator").map((child) => ({ ...code, node: child })),
  );

function hasComputedName(code: Code): boolean {
  const name = fieldOf(code, "name") ?? fieldOf(code, "key");
  return name?.node.type === "computed_property_name" && !/^\[\s*Symbol\.\w+\s*\]$/.test(textOf(name));
}

function expressionFlow(statement: Code): Flow {
  const [expression] = partsOf(statement);
  if (expression === undefined) return "effect";
  if (expression.node.type === "string") return "slot";
  if (isTestCall(expression)) return "free";
  if (expression.node.type !== "assignment" && expression.node.type !== "assignment_expression") return "effect";
  const left = fieldOf(expression, "left");
  const right = fieldOf(expression, "right");
  const place = left === undefined ? "" : textOf(left);
  const known =
    left?.node.type === "identifier"
      ? statement.language === "python"
      : /^((module\.)?exports|[A-Z]\w*(\.prototype)?)\.\w+$/.test(place);
  return known && (right === undefined || isQuiet(right)) ? "free" : "effect";
}

/** Nothing in it acts when it is evaluated: functions inside are only made, not run. */
export function isQuiet(code: Code): boolean {
  const into = (node: SyntaxNode) =>
    !functionTypes.includes(node.type) && (node === code.node || !isInstanceField(node));
  for (const part of nodesOf(code, into)) {
    const { type } = part.node;
    if (acts.includes(type)) return false;
    if (type === "call_expression" || type === "call" || type === "new_expression") {
      const callee = fieldOf(part, "function") ?? fieldOf(part, "constructor");
      if (callee === undefined || !quietCalls.test(textOf(callee))) return false;
    }
    if (type === "unary_expression" && hasToken(part, "delete")) return false;
  }
  return true;
}

/** Evaluated when an object is made, not when its class is. */
const isInstanceField = ({ type, children }: SyntaxNode): boolean =>
  (type === "public_field_definition" || type === "field_definition") &&
  !children.some((child) => child.type === "static");
