export const templateNames = ["agent", "capability", "task", "turn", "attempt", "branch", "cwd"] as const;
export type TemplateName = (typeof templateNames)[number];

/** Answers what a name in `${...}` stands for; `env.` names are asked with the prefix cut off. */
export interface TemplateSource {
  fact(name: TemplateName): string;
  variable(name: string): string;
}

// `$${` is the way to write a literal `${`, which shell commands sometimes need.
const pattern = /\$(\$\{)|\$\{([^}]*)\}/g;

/** Replaces `${name}` and `${env.NAME}` in every string of a value; everything else is kept. */
export function fillTemplates<T>(value: T, source: TemplateSource): T {
  const fill = (inner: unknown): unknown => {
    if (typeof inner === "string") return fillText(inner, source);
    if (Array.isArray(inner)) return inner.map(fill);
    if (inner === null || typeof inner !== "object") return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, fill(item)]));
  };
  // Only strings change, and each stays a string, so the shape is that of the argument.
  return fill(value) as T;
}

/** What is wrong with the templates of a text, if anything. */
export function templateProblem(text: string): string | undefined {
  for (const match of text.matchAll(pattern)) {
    const name = match[2];
    if (name === undefined || isFact(name) || /^env\.\w+$/.test(name)) continue;
    return `has an unknown template \${${name}}; known: ${templateNames.join(", ")}, env.NAME; write $\${ for a literal one`;
  }
  return undefined;
}

function fillText(text: string, source: TemplateSource): string {
  return text.replace(pattern, (whole: string, literal: string | undefined, name: string | undefined) => {
    if (literal !== undefined) return literal;
    if (name === undefined) return whole;
    if (isFact(name)) return source.fact(name);
    return name.startsWith("env.") ? source.variable(name.slice("env.".length)) : whole;
  });
}

function isFact(name: string): name is TemplateName {
  return templateNames.some((known) => known === name);
}
