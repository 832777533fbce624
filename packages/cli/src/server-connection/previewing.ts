// For --preview: replaces every call that would change flags or segments with a preview, which ends the command.
import type { ChangePreview, Management, NewOperation, Result } from "@halyard/sdk/management";
import { Previewed } from "../terminal/output.ts";
import { previewLines } from "./preview-text.ts";

/** Removes operation numbers from messages, because the user specified flags and fields. */
const withoutPlaces = (text: string): string =>
  text.replace(/\boperations\[\d+\](?:: |\.body\.)/g, "");

const ended = (result: Result<ChangePreview>): Result<never> => {
  if (!result.ok) {
    const { details, ...error } = result.error;
    return {
      ...result,
      error: {
        ...error,
        message: withoutPlaces(error.message),
        ...(details && {
          details: details.map((each) => ({ ...each, field: withoutPlaces(each.field) })),
        }),
      },
    };
  }
  const lines = [...previewLines(result.value), "Nothing was changed."];
  throw new Previewed(lines.join("\n"), result.value);
};

type Version = { readonly ifMatch?: number } | undefined;
const at = (options: Version) =>
  options?.ifMatch === undefined ? {} : { version: options.ifMatch };

export const previewing = (management: Management): Management => {
  const ask = async (...operations: readonly NewOperation[]): Promise<Result<never>> =>
    ended(await management.preview.operations(operations));
  const flag = (key: string, action: NewOperation["action"], body?: object, options?: Version) =>
    ask({ kind: "flag", key, action, ...(body && { body }), ...at(options) });
  const segment = (key: string, action: NewOperation["action"], body?: object, options?: Version) =>
    ask({ kind: "segment", key, action, ...(body && { body }), ...at(options) });
  return {
    ...management,
    flags: {
      ...management.flags,
      create: ({ key, ...body }) => flag(key, "create", body),
      update: (key, patch, options) => flag(key, "patch", patch, options),
      delete: (key, options) => flag(key, "delete", undefined, options),
      changeTogether: (changes) =>
        ask(
          ...changes.map(({ flag: key, ifMatch, patch: body }) => ({
            kind: "flag" as const,
            key,
            action: "patch" as const,
            body,
            ...(ifMatch !== undefined && { version: Number(ifMatch) }),
          })),
        ),
    },
    segments: {
      ...management.segments,
      create: ({ key, ...body }) => segment(key, "create", body),
      update: (key, patch, options) => segment(key, "patch", patch, options),
      changeMembers: (key, members, options) => segment(key, "members", members, options),
      delete: (key, options) => segment(key, "delete", undefined, options),
    },
    changeRequests: {
      ...management.changeRequests,
      create: ({ operations }) => ask(...operations),
    },
  };
};
