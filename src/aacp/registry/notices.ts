/** What a registry tells beside its errors. */

export type RegistryNotice =
  /** The file is damaged. `to` is where it is now; `null` when it could not be set aside. */
  | {
      readonly kind: 'set-aside';
      readonly file: string;
      readonly to: string | null;
      /** One sentence or two. */
      readonly message: string;
    }
  /** Others may read the file, and it could not be kept from them. */
  | { readonly kind: 'not-private'; readonly file: string; readonly message: string }
  /** One entry is damaged, and is taken for one that is not there. */
  | { readonly kind: 'damaged-entry'; readonly file: string; readonly message: string };

export type NoticeListener = (notice: RegistryNotice) => void;
