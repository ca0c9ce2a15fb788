// The steps applied to the built page, in this order: Trunk would run separate hooks all at once.
import "./glue.mjs";
import "./styles.mjs";
import "./data.mjs";
import "./name.mjs";
import "./social.mjs";
import "./embed.mjs";
import "./api.mjs";
import "./presets.mjs";
import "./docs.mjs";
// Last: it lists all files.
import "./offline.mjs";
