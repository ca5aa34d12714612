// SPDX-License-Identifier: Apache-2.0
// What a Store holds. Private to db/.
#pragma once

#include "db/connection.h"
#include "db/store.h"

namespace tilewright {

struct Store::State {
  db::Connection connection;
};

}  // namespace tilewright
