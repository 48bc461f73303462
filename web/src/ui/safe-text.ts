const nowhere = "http://nowhere.invalid";
const protocols = ["http:", "https:", "mailto:"];

/** The address of a link that may be followed: of the web, of mail, or a path of this page. Undefined for all others. */
export function safeTarget(href: string): string | undefined {
  if (!URL.canParse(href, nowhere)) return undefined;
  const url = new URL(href, nowhere);
  if (url.origin === nowhere) return href.startsWith("/") ? `${url.pathname}${url.search}${url.hash}` : undefined;
  return protocols.includes(url.protocol) ? url.href : undefined;
}

/** Quotes within quotes that no person writes; each level costs a reader of Markdown more than the one before. */
export const nestsWithoutEnd = (text: string): boolean => /(?:>\s?){40}/.test(text);

/** Characters that cannot be seen or that turn the direction of text: one text must not read as another. */
const hidden = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const everyHidden = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Of those, what turns whole stretches of text around, or commands a terminal. Joiners within words are left to them. */
const everyTurn = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

export const hasHidden = (text: string): boolean => hidden.test(text);

const writtenOut = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;

/** Code, a name or a path with every such character written out: `\u{202e}`. */
export const withHidden = (text: string): string => text.replace(everyHidden, writtenOut);

/** Words of an agent or a person with those written out that make them read as others. */
export const withTurns = (text: string): string => text.replace(everyTurn, writtenOut);
