/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_name.h - a band's name, which means the same in another run of the program.
 *
 * It is the band's label, with module and source where the log gives them, and without the version of its package
 * ("containers-0.6.7:Data.Map.Internal.Bin" is one of containers, whichever build it comes from); for a cost-centre
 * stack it is the whole path. Numbers that a compiler adds to the symbols of one build are not part of a name. An info
 * table that the log does not name has only its address, which differs in another build: all of these share one name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/wire.h"

#define BAND_NAME_MAX      1024u
#define BAND_NAME_LEFT_OUT "(bands beyond the limit)" /* bytes of a census in bands beyond the daemon's limit */

struct band_name {
        char text[BAND_NAME_MAX]; /* longer ones are cut */
        size_t used;
};

void band_name(struct band_name *ret, const Hw__Band *band);

/* Where in the program's source it is; NULL: the log does not say, or there is no band. */
const char *band_source(const Hw__Band *band);

/*
 * What of it its label does not say: "type Request, module Main, Leaky.hs:31:19-54"; "named by its symbol", which
 * tells no place; "" if nothing. Returns `out`.
 */
#define BAND_PLACE_MAX 420u
char *band_place(char *out, size_t size, const Hw__Band *band);

/* A single cost centre: "Module.label"; NULL: MAIN. */
void centre_name(struct band_name *ret, const Hw__CostCentre *centre);

/* Whether a name stands for several indistinguishable bands, which must not be matched with another run. */
bool band_name_is_shared(const char *name);

/* "containers-0.6.4.1:Data.Map.Internal.Bin" split; borrowed. */
struct package_label {
        size_t package;   /* bytes of the package's name, without its version; 0: there is no package */
        const char *rest; /* "Data.Map.Internal.Bin" */
};
struct package_label package_label(const char *label);

/*
 * A label that is safe to print, in at most `columns` of a terminal: whole, or without its package; else a qualified
 * name loses its beginning, as its end tells most, and a cost-centre stack, a path or words their end. Returns `out`.
 */
char *fit_label(char *out, size_t size, const char *label, int columns);

struct world_band;
struct world_target;

/*
 * What most of a band is, in the newest census, by the types of what its closures hold: "[Session]" of all of it,
 * "81.0 % [Session]" of what is mixed; "" where that is not known. May contain anything. Returns `out`.
 */
#define CONTENTS_TEXT 200
char *band_contents_text(char *out, size_t size, const struct world_band *band);
double band_contents_share(const struct world_band *band); /* of its bytes; 0: not known */

/*
 * A band as it is said in a sentence: by what most of it holds, "[Session]", where a census from outside told it, else
 * its label without the package; "list cells" for the constructor of lists. Returns `out`.
 */
char *band_said(char *out, size_t size, const struct world_target *t, uint32_t id, const char *label);
/* What that leaves out, in parentheses: " (81.0 % of GHC.Types.:)"; "" where it is all. Returns `out`. */
char *band_said_of(char *out, size_t size, const struct world_target *t, uint32_t id, const char *label);
