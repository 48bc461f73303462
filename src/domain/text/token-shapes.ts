/** Tokens that are known by their shape. */
interface TokenShape {
  /** One of these is in every such token. Most texts have none, and need no closer look. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  readonly isOne?: ((match: string) => boolean) | undefined;
}

/**
 * At the beginning of a word. A line end inside of a JSON text is a backslash and a letter; what colours a terminal ends with a
 * letter, and what stands in the place of a sign in an address may do so.
 */
const start = (): string => String.raw`(?<=^|[^A-Za-z0-9_]|\\[nrtbf]|\[[0-9;]{0,12}m|%[0-9A-Fa-f]{2})`;

/** Its pattern is made for the first text with one of the hints: most commands meet none. */
function shape(hints: readonly string[], body: string, isOne?: (match: string) => boolean): TokenShape {
  let pattern: RegExp | undefined;
  return {
    hints,
    get pattern() {
      pattern ??= new RegExp(start() + body, "g");
      return pattern;
    },
    isOne,
  };
}

export interface TokenShapes {
  /** The hints of all of them: a text with none of these has no such token. */
  readonly hints: readonly string[];
  readonly shapes: readonly TokenShape[];
}

/** Made for the first text: what only reads needs none of them. */
function once(make: () => readonly TokenShape[]): () => TokenShapes {
  let made: TokenShapes | undefined;
  return () => {
    if (made === undefined) {
      const shapes = make();
      made = { shapes, hints: shapes.flatMap(({ hints }) => hints) };
    }
    return made;
  };
}

/** Names of style classes and branches are words; a key has a long part that is none. */
const hasLongPart = (match: string): boolean => /^sk-(?:ant|proj|svcacct|admin|or)-|[A-Za-z0-9]{16}/.test(match);

/** A method that is called so has none in its name. */
const hasDigit = (match: string): boolean => /[0-9]/.test(match);

/** The first part of a bot's token is the number of its account, as base64. */
const beginsWithNumber = (match: string): boolean =>
  /^[0-9]{17,20}$/.test(Buffer.from(match.split(".")[0] ?? "", "base64url").toString("latin1"));

export const tokens = once(() => [
  shape(["sk-"], "sk-[A-Za-z0-9_-]{20,}", hasLongPart),
  shape(["sk_", "rk_"], "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
  shape(["sess-"], "sess-[A-Za-z0-9]{40,}"),
  shape(["gho_", "ghp_", "ghr_", "ghs_", "ghu_"], "gh[oprsu]_[A-Za-z0-9]{20,}"),
  shape(["github_pat_"], "github_pat_[A-Za-z0-9_]{20,}"),
  shape(["gl"], "gl(?:pat|dt|ptt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_.-]{20,}"),
  shape(["npm_"], "npm_[A-Za-z0-9]{30,}"),
  shape(["pypi-"], "pypi-[A-Za-z0-9_-]{30,}"),
  shape(["dckr_pat_"], "dckr_pat_[A-Za-z0-9_-]{20,}"),
  shape(["xox"], "xox[abeoprs]-[A-Za-z0-9.-]{10,}"),
  shape(["xapp-"], "xapp-[0-9]-[A-Za-z0-9-]{20,}"),
  shape(["hooks.slack.com"], String.raw`hooks\.slack\.com/services/[A-Za-z0-9_/-]{20,}`),
  shape(["AIza"], "AIza[A-Za-z0-9_-]{30,}"),
  shape(["ya29."], String.raw`ya29\.[A-Za-z0-9_-]{20,}`),
  shape(["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{20,}"),
  shape(["AKIA", "ASIA", "ABIA", "ACCA"], "A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
  shape(["hf_"], "hf_[A-Za-z0-9]{30,}"),
  shape(["gsk_"], "gsk_[A-Za-z0-9]{30,}"),
  shape(["xai-"], "xai-[A-Za-z0-9]{30,}"),
  shape(["SG."], String.raw`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
  shape(["whsec_"], "whsec_[A-Za-z0-9+/=]{20,}"),
  shape(["_v1_"], "do[opr]_v1_[a-f0-9]{32,}"),
  shape(["shpat_", "shpca_", "shppa_", "shpss_"], "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}"),
  shape(["hvb.", "hvr.", "hvs."], String.raw`hv[brs]\.[A-Za-z0-9_-]{20,}`, hasDigit),
  shape(["lin_api_"], "lin_api_[A-Za-z0-9]{30,}"),
  shape(["dp."], String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}`),
  // Of a bot: its number stands before it.
  shape([":AA"], "(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
  shape(["."], String.raw`[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`, beginsWithNumber),
  shape(["SK"], "SK[a-f0-9]{32}(?![A-Za-z0-9])"),
  shape(["AGE-SECRET-KEY-1"], "AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
]);

/** A text without so long a word has none of the shapes below. */
export const longWord = /[A-Za-z0-9_.$-]{24}/;

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** Tokens of more services. Most begin with a name of their own. */
const moreNamed = once(() => [
  shape(["rubygems_"], "rubygems_[a-f0-9]{40,}"),
  shape(["r8_"], "r8_[A-Za-z0-9]{30,}", hasDigit),
  shape(["pplx-"], "pplx-[A-Za-z0-9]{30,}"),
  shape(["lsv2_"], "lsv2_[a-z]{2}_[a-f0-9]{30,}(?:_[a-f0-9]{8,})?"),
  shape(["nvapi-"], "nvapi-[A-Za-z0-9_-]{40,}"),
  shape(["sk_"], "sk_[a-f0-9]{40,}"),
  shape(["tvly-"], "tvly-[A-Za-z0-9-]{28,}", hasDigit),
  shape(["pcsk_"], "pcsk_[A-Za-z0-9_]{40,}"),
  shape(["jina_"], "jina_[A-Za-z0-9_-]{40,}"),
  shape(["e2b_"], "e2b_[a-f0-9]{40}"),
  shape(["HRKU-"], "HRKU-[A-Za-z0-9_-]{30,}"),
  shape(["fm1", "fm2", "fo1_"], "(?:fm[12][ar]?|fo1)_[A-Za-z0-9+/=_-]{40,}"),
  shape(["nfp_", "ddp_", "pnu_", "pnb_"], "(?:nfp|ddp|pn[ub])_[A-Za-z0-9]{34,}"),
  shape(["vercel_blob_rw_"], "vercel_blob_rw_[A-Za-z0-9_]{20,}"),
  shape(["sbp_"], "sbp_[a-f0-9]{40}"),
  shape(["sb_secret_"], "sb_secret_[A-Za-z0-9_-]{20,}"),
  shape(["pscale_"], "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
  shape(["napi_"], "napi_[a-z0-9]{40,}"),
  shape(["dapi"], "dapi[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
  shape(["ops_eyJ"], "ops_eyJ[A-Za-z0-9_-]{40,}"),
  shape(["ATATT3"], "ATATT3[A-Za-z0-9_=-]{60,}"),
  shape(["ATBB"], "ATBB[A-Za-z0-9]{28,}", hasDigit),
  shape(["pul-"], "pul-[a-f0-9]{40}"),
  shape(["ntn_", "secret_"], "(?:ntn|secret)_[A-Za-z0-9]{40,}", hasDigit),
  shape(["pat"], String.raw`pat[A-Za-z0-9]{14}\.[a-f0-9]{60,}`),
  shape(["figd_"], "figd_[A-Za-z0-9_-]{30,}"),
  shape(["sq0"], "sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
  shape(["access_token$"], String.raw`access_token\$(?:production|sandbox)\$[a-z0-9]+\$[a-f0-9]{32}`),
  shape(["/api/webhooks/"], String.raw`(?:discord|discordapp)\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{40,}`),
  shape(["webhook.office.com"], String.raw`[a-z0-9]+\.webhook\.office\.com/[A-Za-z0-9@/_-]{30,}`),
  shape(["sntrys_", "sntryu_"], "sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
  shape(["NRAK-"], "NRAK-[A-Z0-9]{20,}"),
  shape(["NRAL"], "[a-f0-9]{36}NRAL"),
  shape(["glsa_", "glc_"], "(?:glsa|glc)_[A-Za-z0-9_+/=-]{32,}", hasDigit),
  shape(["dt0"], String.raw`dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}`),
  shape(["hcaik_", "hcxik_"], "hc[a-z]ik_[a-z0-9]{50,}"),
  shape(["CCIPAT_"], "CCIPAT_[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
  shape(["bkua_", "sqp_", "squ_", "sqa_"], "(?:bkua|sq[pua])_[a-f0-9]{40}"),
  shape(["PMAK-"], "PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
  shape(["sk.eyJ", "tk.eyJ"], String.raw`[st]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}`),
  shape(["tskey-"], "tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
  shape(["CFPAT-"], "CFPAT-[A-Za-z0-9_-]{40,}"),
  shape([".atlasv1."], String.raw`[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}`),
]);

/** Tokens whose shape other data may have as well: hashes, ids, texts in base64. */
const lessNamed = once(() => [
  shape(["AKCp", "cmVmdGtu"], "(?:AKCp|cmVmdGtu)[A-Za-z0-9]{50,}"),
  shape(["sgp_", "sgamp_"], "sg(?:p|amp)_[A-Za-z0-9_]{40,}", hasDigit),
  shape(["tfp_", "rdme_", "rnd_"], "(?:tfp|rdme|rnd)_[A-Za-z0-9_.-]{28,}", hasDigit),
  shape(["sl."], String.raw`sl\.[A-Za-z0-9_-]{100,}`),
  shape(["cio"], "cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", hasDigit),
  shape(["oy2"], "oy2[a-z0-9]{43}(?![A-Za-z0-9])", hasDigit),
  shape(["1//0"], "1//0[A-Za-z0-9_-]{40,}"),
  shape(["Q~"], "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
  shape(["EAAC", "EAAA", "EAAG"], "EAA[ACG][A-Za-z0-9]{56,}", hasDigit),
  shape(["AAAAAAAAAAAA"], "A{20,}[A-Za-z0-9%]{60,}", hasDigit),
  shape(["key-"], "key-[a-f0-9]{32}(?![A-Za-z0-9])"),
  shape(["-us"], "[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
  shape(["sdk-", "pat-"], `(?:sdk|pat-[a-z]{2}[0-9])-${id}`),
  shape(["$2", "$5$", "$6$", "$y$"], String.raw`\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|[56y]\$[^\s:"']{40,})`),
]);

export const moreTokens = once(() => [...moreNamed().shapes, ...lessNamed().shapes]);

/** Only what nothing but a token looks like: for texts that a person is told to look at, one by one. */
export const namedTokens = once(() => [...tokens().shapes, ...moreNamed().shapes]);
